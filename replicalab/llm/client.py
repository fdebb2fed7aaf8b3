"""Functions that send chat messages to a language model."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final, NamedTuple

from replicalab import errors
from replicalab.agents.scientist_policy import GenerateFn
from replicalab.lexicon import count_text
from replicalab.llm.endpoint import Endpoint
from replicalab.negotiation import Clock, readable

if TYPE_CHECKING:
    from replicalab.llm.call import ModelCall

POLL_SECONDS: Final = 0.1


class ModelReply(str):
    """An answer's text with token counts and the finish reason, or None if the server omits them.

    The finish reason is ``stop``, or ``length`` if the answer was cut at the token limit.
    """

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    finish_reason: str | None = None


class Progress(NamedTuple):
    """Characters received so far, and seconds since the start."""

    characters: int
    seconds: float


def build_generate_fn(
    endpoint: Endpoint,
    *,
    on_progress: Callable[[Progress], None] | None = None,
    clock: Clock = time.monotonic,
) -> GenerateFn:
    """Return a function that sends chat messages to the endpoint and returns a `ModelReply`.

    An empty answer is ``""``. Lone surrogates become U+FFFD, and the key, if the server repeats it,
    becomes ``[key]``. The function is safe to call from several threads and inside an event loop.

    Args:
        endpoint: the server and the limits.
        on_progress: called ten times a second; an exception from it cancels the call.
        clock: monotonic seconds.

    Raises (from the returned function):
        ModelError: no answer; the message gives the reason and the remedy.
    """

    def generate(messages: list[dict[str, str]]) -> str:
        texts = [{name: readable(text) for name, text in row.items()} for row in messages]
        from replicalab.llm.call import ModelCall  # noqa: PLC0415 - takes 0.3 s, see its docstring

        call = ModelCall(endpoint, texts)
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            asyncio.run(_watch(call, on_progress, clock))
        else:  # a notebook runs its own event loop in this thread
            with ThreadPoolExecutor(1) as thread:
                thread.submit(asyncio.run, _watch(call, on_progress, clock)).result()
        reply = ModelReply(endpoint.without_key(readable("".join(call.texts))))
        reply.prompt_tokens, reply.completion_tokens = call.prompt_tokens, call.completion_tokens
        reply.finish_reason = call.finish_reason
        return reply

    return generate


def check_endpoint(
    endpoint: Endpoint, generate: GenerateFn, *, clock: Clock = time.monotonic
) -> str:
    """Ask the model for one word and return a sentence that it answers.

    Raises:
        ModelError: it does not answer.
    """
    started = clock()
    generate([{"role": "user", "content": "Reply with the word OK and nothing else."}])
    return f"{endpoint.host} answers as model '{endpoint.model}' ({clock() - started:.1f} s)."


async def _watch(
    call: ModelCall, on_progress: Callable[[Progress], None] | None, clock: Clock
) -> None:
    """Run a call, report its progress, and cancel it at the time limit."""
    limit, started = call.endpoint.time_limit, clock()
    task = asyncio.ensure_future(call.run())
    try:
        while not task.done():
            if clock() - started >= limit:
                raise errors.ModelTimeoutError(
                    f"{call.endpoint.host} did not complete its answer within "
                    f"{count_text(limit, 'second')}; try a faster model, or ask for less."
                )
            await asyncio.wait([task], timeout=POLL_SECONDS)
            if on_progress is not None:
                on_progress(Progress(call.characters, clock() - started))
    finally:
        task.cancel()
    failure = task.result()
    if failure is not None:
        raise failure
