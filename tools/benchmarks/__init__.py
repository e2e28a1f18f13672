"""One module per package; each defines ``add_arguments(parser)`` and ``run(arguments)``."""
