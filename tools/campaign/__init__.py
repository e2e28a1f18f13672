"""The campaign of ``nox -s attack``: damaged files, sudden ends, malicious model folders."""
