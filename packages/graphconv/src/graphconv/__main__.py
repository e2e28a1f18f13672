"""``python -m graphconv`` is the command ``graphconv``."""

from graphconv.cli import main

if __name__ == "__main__":
    main(prog_name="graphconv")
