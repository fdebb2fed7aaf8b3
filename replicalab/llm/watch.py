"""One call under watch: its progress, its limits, and the user's wish to stop it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, NamedTuple, TypeAlias

from replicalab.errors import ModelAnswerTooLongError, ModelCancelledError, ModelTimeoutError
from replicalab.llm.endpoint import Endpoint
from replicalab.negotiation.recording import Clock

POLL_SECONDS: Final = 0.1
"""How often a waiting call looks whether it is cancelled, and how often it reports at most."""
BYTES_PER_CHARACTER: Final = 100
"""What may be read for each character of an answer: a stream wraps each few in some 300 bytes."""
FREE_BYTES: Final = 1 << 20


class Progress(NamedTuple):
    """How far a call is.

    Attributes:
        characters: received of the answer so far; 0 while the model has not begun.
        seconds: since the call began.
    """

    characters: int
    seconds: float


OnProgress: TypeAlias = Callable[[Progress], None]
Cancelled: TypeAlias = Callable[[], bool]


class Watch:
    """The watch over one call: `check` is called all along, and raises when the call must end."""

    def __init__(
        self,
        endpoint: Endpoint,
        on_progress: OnProgress | None = None,
        cancelled: Cancelled | None = None,
        clock: Clock = time.monotonic,
    ) -> None:
        self._endpoint = endpoint
        self._on_progress = on_progress
        self._cancelled = cancelled
        self._clock = clock
        self._started = clock()
        self._reported = self._started
        self._characters = 0
        self._bytes_left = FREE_BYTES + BYTES_PER_CHARACTER * endpoint.max_characters

    @property
    def seconds(self) -> float:
        """Seconds since the call began."""
        return self._clock() - self._started

    @property
    def remaining(self) -> float:
        """Seconds until the time limit, 0 after it."""
        return max(0.0, self._endpoint.time_limit - self.seconds)

    def check(self) -> None:
        """Report progress when it is due.

        Raises:
            ModelCancelledError: the user wants no answer any more.
            ModelTimeoutError: the time limit is over.
        """
        if self._cancelled is not None and self._cancelled():
            raise ModelCancelledError(f"The call of {self._endpoint.host} was cancelled.")
        if not self.remaining:
            raise ModelTimeoutError(
                f"{self._endpoint.host} did not complete its answer within "
                f"{self._endpoint.time_limit:g} seconds; try a faster model, or ask for less."
            )
        if self._clock() - self._reported >= POLL_SECONDS:
            self.report()

    def report(self) -> None:
        """Say how far the call is."""
        self._reported = self._clock()
        if self._on_progress is not None:
            self._on_progress(Progress(self._characters, self.seconds))

    def too_silent(self) -> ModelTimeoutError:
        """Return the error of a server that has said nothing for too long."""
        return ModelTimeoutError(
            f"{self._endpoint.host} was silent for {self._endpoint.timeout:g} seconds; check that "
            f"the server is not overloaded, or allow more time."
        )

    def heard(self, count: int) -> None:
        """Count bytes that came in.

        Raises:
            ModelAnswerTooLongError: more came than any answer of allowed length needs.
        """
        self._bytes_left -= count
        if self._bytes_left < 0:
            raise self._too_long()

    def wrote(self, count: int) -> None:
        """Count characters of the answer.

        Raises:
            ModelAnswerTooLongError: the answer is longer than is read.
        """
        self._characters += count
        if self._characters > self._endpoint.max_characters:
            raise self._too_long()

    def _too_long(self) -> ModelAnswerTooLongError:
        return ModelAnswerTooLongError(
            f"{self._endpoint.host} answered with more than {self._endpoint.max_characters:,} "
            "characters, and no more is read; try again, or another model."
        )
