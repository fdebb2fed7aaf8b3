"""The language model of a command: its calls, its tokens and how to stop it."""

import os
import time
from threading import Condition
from typing import Final

from replicalab.lexicon import amount_text, count_text
from replicalab.llm import Endpoint, Progress, build_generate_fn, needed_endpoint
from replicalab.negotiation import ScientistKind

MODEL: Final = ScientistKind.MODEL.value
_LONGEST_STOP: Final = 5.0  # seconds; a call that is stopped ends much sooner


class StoppedError(Exception):
    """A call was ended because its command was."""


class Model:
    """The endpoint's model as a `GenerateFn`, with its tokens counted; any thread may call it."""

    def __init__(self) -> None:
        self.endpoint: Endpoint = needed_endpoint(os.environ)
        self._generate = build_generate_fn(self.endpoint, on_progress=self._require_running)
        self._tokens: list[int | None] = [0, 0]  # sent and received; None if not counted
        self._began, self._stopped = time.monotonic(), False
        self._under_way, self._changed = 0, Condition()

    def __call__(self, messages: list[dict[str, str]]) -> str:
        """Return its answer, or raise a `ModelError` or `StoppedError`."""
        with self._changed:
            self._require_running()
            self._under_way += 1
        try:
            reply = self._generate(messages)
        finally:
            with self._changed:
                self._under_way -= 1
                self._changed.notify_all()
        counts = [getattr(reply, f"{name}_tokens", None) for name in ("prompt", "completion")]
        with self._changed:
            for at, (old, new) in enumerate(zip(self._tokens, counts, strict=True)):
                self._tokens[at] = None if old is None or new is None else old + new
        return reply

    def stop(self) -> None:
        """End every call and begin no other; none can clean up after the interpreter ends."""
        with self._changed:
            self._stopped = True
            self._changed.wait_for(lambda: not self._under_way, _LONGEST_STOP)

    def _require_running(self, _: Progress | None = None) -> None:
        if self._stopped:
            raise StoppedError("stopped")

    def spent_text(self, played: str) -> str:
        """Return tokens and time: ``3 rounds, 4,210 tokens sent, …``."""
        sent, received, seconds = self.spent.values()
        tokens = f"{count_text(sent or 0, 'token')} sent, {amount_text(received or 0)} received"
        if sent is None:
            tokens = "tokens not counted by the server"
        return f"{played}, {tokens}, {amount_text(round(seconds or 0))} s"

    @property
    def spent(self) -> dict[str, float | None]:
        """Tokens and seconds; no tokens if the server did not count those of every call."""
        sent, received = self._tokens
        seconds = round(time.monotonic() - self._began, 1)
        return {"tokens_sent": sent, "tokens_received": received, "seconds": seconds}
