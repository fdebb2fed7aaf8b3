"""The language model of a command: its calls, its tokens and how to stop it."""

import os
import time
from threading import Condition, Event
from typing import Final

from replicalab.cli.printing import is_watched, say
from replicalab.lexicon import amount_text, count_text
from replicalab.llm import Endpoint, Progress, build_generate_fn, needed_endpoint
from replicalab.negotiation import ScientistKind

MODEL: Final = ScientistKind.MODEL.value
_MOST_SECONDS: Final = 5.0  # As many, many times over, as a call that is stopped takes to end


class StoppedError(Exception):
    """A call was ended because its command was."""


class Model:
    """The endpoint's model, as a `GenerateFn` that counts what it takes; any thread may ask it.

    Attributes:
        endpoint: whom it asks, by the environment.
        calls: how many came to an answer.
        sent, received: their tokens, as far as the server counted them.
        uncounted: of how many calls it did not.
    """

    def __init__(self, *, shows_progress: bool = False) -> None:
        """Read its address from the environment.

        Raises:
            ModelSettingsError: a setting is missing or cannot be used; says which.
        """
        self.endpoint: Endpoint = needed_endpoint(os.environ)
        self.calls = self.sent = self.received = self.uncounted = 0
        self._generate = build_generate_fn(self.endpoint, on_progress=self._look)
        self._shows = shows_progress and is_watched()
        self._width = 0
        self._began, self._stopped = time.monotonic(), Event()
        self._under_way, self._changed = 0, Condition()

    def __call__(self, messages: list[dict[str, str]]) -> str:
        """Return its answer.

        Raises:
            ModelError: there is none.
            StoppedError: it was stopped.
        """
        with self._changed:
            self._look()
            self._under_way += 1
        try:
            answer = self._generate(messages)
        finally:
            self._show("")
            with self._changed:
                self._under_way -= 1
                self._changed.notify_all()
        sent, received = (
            getattr(answer, name, None) for name in ("prompt_tokens", "completion_tokens")
        )
        with self._changed:
            self.calls += 1
            self.sent += sent or 0
            self.received += received or 0
            self.uncounted += sent is None or received is None
        return answer

    def stop(self) -> None:
        """End every call that is under way, and begin no other."""
        with self._changed:  # so that none begins any more that is not waited for
            self._stopped.set()

    def wait(self) -> None:
        """Wait until no call is under way, since none can clean up once the interpreter ends."""
        with self._changed:
            self._changed.wait_for(lambda: not self._under_way, _MOST_SECONDS)

    def _look(self, progress: Progress | None = None) -> None:
        if self._stopped.is_set():
            raise StoppedError("stopped")
        if progress:
            characters = count_text(progress.characters, "character")
            self._show(f"{characters} in {count_text(round(progress.seconds), 'second')}")

    def _show(self, text: str) -> None:
        """Show how far a call is, in one line of a terminal; nothing takes it away."""
        if self._shows and (text or self._width):
            say(f"\r{text:<{self._width}}" + ("" if text else "\r"), "")
            self._width = len(text)

    # --- what it took -----------------------------------------------------------------------------

    def spent_text(self, *what: str) -> str:
        """Return what was played, and what it took: ``3 rounds, 4,210 tokens sent, …``."""
        tokens = f"{count_text(self.sent, 'token')} sent, {amount_text(self.received)} received"
        if self.uncounted == self.calls:
            tokens = "tokens not counted by the server"
        elif self.uncounted:
            tokens = f"at least {tokens}"
        return ", ".join([*what, tokens, f"{amount_text(round(self._seconds))} s"])

    @property
    def spent(self) -> dict[str, object]:
        """The same for a program; no tokens where the server counted none."""
        counted = self.uncounted < self.calls
        return {
            "calls": self.calls,
            "calls_uncounted": self.uncounted,
            "tokens_sent": self.sent if counted else None,
            "tokens_received": self.received if counted else None,
            "seconds": round(self._seconds, 1),
        }

    @property
    def _seconds(self) -> float:
        return time.monotonic() - self._began
