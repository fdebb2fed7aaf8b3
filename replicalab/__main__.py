"""The commands: ``python -m replicalab --help``."""

from __future__ import annotations

import sys

from replicalab.cli import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
