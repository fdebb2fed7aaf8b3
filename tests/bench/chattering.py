"""A model's server that sends without end and without a pause, in a process of its own.

Run with the name of what it sends, it prints its address and stays until its input ends.
"""

from __future__ import annotations

import sys
from typing import Final

from tests.llm.serving import GOOD_HEAD, Exchange, event, piece, serve

SENT: Final = {
    "small": event(piece("")) * 50,
    "large": event({"choices": [{"delta": {}, "finish_reason": None}, *[{}] * 2900]}),
    "too large": event({"choices": [{}] * 300_000}),
    "pings": b": ping\n\n" * 1000,
}
"""Pieces without a text, the dearest pieces that are taken, dearer ones, and none at all."""


def main() -> None:
    """Send one of them to whoever asks."""
    block = SENT[sys.argv[1]]

    def reply(exchange: Exchange) -> None:
        exchange.raw(GOOD_HEAD)
        exchange.drip(block, 0)

    with serve(reply) as server:
        sys.stdout.write(f"{server.url}\n")
        sys.stdout.flush()
        sys.stdin.read()


if __name__ == "__main__":
    main()
