"""The program: ``replicalab`` where it is installed, ``python -m replicalab`` from a clone too."""

import sys

from replicalab.cli import main


def run() -> int:
    """Do what the installed command is asked, and return its exit code; alone, it serves."""
    return main(sys.argv[1:] or ["serve"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
