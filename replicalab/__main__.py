"""The program: ``replicalab`` if installed, ``python -m replicalab`` from a clone too."""

import sys

from replicalab.cli import main


def run() -> int:
    """Run the installed command and return its exit code; without arguments it serves."""
    return main(sys.argv[1:] or ["serve"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
