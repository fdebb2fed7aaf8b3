"""The language model of a command: its calls, its tokens and how to stop it."""

import os
import time
from threading import Condition, Event
from typing import Final

from replicalab.lexicon import amount_text, count_text
from replicalab.llm import Endpoint, Progress, build_generate_fn, needed_endpoint
from replicalab.negotiation import ScientistKind

MODEL: Final = ScientistKind.MODEL.value
_LONGEST_STOP: Final = 5.0  # seconds; a call that is stopped ends much sooner


class StoppedError(Exception):
    """A call was ended because its command was."""


class Model:
    """The endpoint's model as a `GenerateFn`, with its tokens counted; any thread may call it.

    Raises:
        ModelSettingsError: a setting is missing or cannot be used.
    """

    def __init__(self) -> None:
        self.endpoint: Endpoint = needed_endpoint(os.environ)
        self._generate = build_generate_fn(self.endpoint, on_progress=self._require_running)
        self._usage: list[tuple[int | None, int | None]] = []  # tokens of each call
        self._began, self._stopped = time.monotonic(), Event()
        self._under_way, self._changed = 0, Condition()

    def __call__(self, messages: list[dict[str, str]]) -> str:
        """Return its answer.

        Raises:
            ModelError: there is none.
            StoppedError: it was stopped.
        """
        with self._changed:
            self._require_running()
            self._under_way += 1
        try:
            reply = self._generate(messages)
        finally:
            with self._changed:
                self._under_way -= 1
                self._changed.notify_all()
        tokens = (getattr(reply, f"{name}_tokens", None) for name in ("prompt", "completion"))
        self._usage.append((*tokens,))  # type: ignore[arg-type]
        return reply

    def stop(self) -> None:
        """End every call and begin no other; none can clean up after the interpreter ends."""
        with self._changed:
            self._stopped.set()
            self._changed.wait_for(lambda: not self._under_way, _LONGEST_STOP)

    def _require_running(self, _: Progress | None = None) -> None:
        if self._stopped.is_set():
            raise StoppedError("stopped")

    # --- its use --------------------------------------------------------------------------------

    def spent_text(self, played: str) -> str:
        """Return tokens and time: ``3 rounds, 4,210 tokens sent, …``."""
        spent = self.spent
        tokens = "tokens not counted by the server"
        if spent["tokens_sent"] is not None:
            sent = count_text(spent["tokens_sent"], "token")
            tokens = f"{sent} sent, {amount_text(spent['tokens_received'] or 0)} received"
        return f"{played}, {tokens}, {amount_text(round(spent['seconds'] or 0))} s"

    @property
    def spent(self) -> dict[str, float | None]:
        """Calls, tokens and seconds; no tokens if the server counts none."""
        counted = [(sent, came or 0) for sent, came in self._usage if sent is not None]
        return {
            "calls": len(self._usage),
            "tokens_sent": sum(sent for sent, _ in counted) if counted else None,
            "tokens_received": sum(came for _, came in counted) if counted else None,
            "seconds": round(time.monotonic() - self._began, 1),
        }
