"""Files here that hold no tests."""

collect_ignore = ["user_code.py"]  # mypy reads it; pytest would run it as a module with doctests
