"""A call of a model, as the rest of the app makes it: a plain function that waits and reports."""

import asyncio
import socket
import time
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from threading import Semaphore, Thread
from typing import Any, Final, NamedTuple

from replicalab.agents.scientist_policy import GenerateFn
from replicalab.errors import ModelError, ModelTimeoutError, ModelUnreachableError
from replicalab.lexicon import plural
from replicalab.llm.endpoint import Endpoint
from replicalab.negotiation import Clock, readable

POLL_SECONDS: Final = 0.1
"""How often a waiting call reports, and looks whether it is over its time limit."""
MOST_LOOK_UPS: Final = 16
"""How many host names are looked up at once, of all who ask."""


class ModelReply(str):
    """The text of an answer, with what the server said about it; None where it did not say.

    It ended by ``stop``, or by ``length`` when it was cut at the token cap.
    """

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    finish_reason: str | None = None


class Progress(NamedTuple):
    """How far a call is: characters of the answer so far, and seconds since it began."""

    characters: int
    seconds: float


def build_generate_fn(
    endpoint: Endpoint,
    *,
    on_progress: Callable[[Progress], None] | None = None,
    clock: Clock = time.monotonic,
) -> GenerateFn:
    """Return a function that sends chat messages to the endpoint and returns the answer's text.

    The text is an `ModelReply`, a ``str`` that also carries the tokens and the finish reason. It is
    what the model said, whatever that is: an empty answer is ``""`` (the parser then says
    ``no_json`` and the model is asked again), an answer cut at the token cap is returned as far
    as it goes. Only what no file can hold is replaced by U+FFFD, and the key, should a server
    repeat it, by ``[key]``.

    Rate limits, failures of the server and connections dropped before the answer are tried again
    (``endpoint.max_retries`` times), after a pause that the server may name; a silent server is
    not. One function may be called from several threads at once, also inside an event loop.

    Args:
        endpoint: whom to ask, and the limits.
        on_progress: called in the caller's thread, ten times a second and once at the end, also
            while nothing has come yet. What it raises ends the call and is not caught.
        clock: seconds that only grow.

    Raises (from the returned function):
        ModelError: no answer; the message says why and what to do. See `replicalab.errors`.
    """

    def generate(messages: list[dict[str, str]]) -> str:
        # It brings the openai package, which takes 0.3 s to import: too long for each start.
        from replicalab.llm.client import ModelCall  # noqa: PLC0415 - with the first call, see above

        call = ModelCall(
            endpoint,
            [{name: readable(text) for name, text in message.items()} for message in messages],
        )
        started = clock()
        with _stepwise(call.outcome()) as (outcome, step):
            while not outcome.done():
                if clock() - started >= endpoint.time_limit:
                    raise ModelTimeoutError(
                        f"{endpoint.host} did not complete its answer within "
                        f"{endpoint.time_limit:g} {plural('second', endpoint.time_limit)}; try "
                        "a faster model, or ask for less."
                    )
                step()
                if on_progress is not None:
                    on_progress(Progress(call.characters, clock() - started))
        failure = outcome.result()
        if failure is not None:
            raise failure
        answer = ModelReply(endpoint.without_key(readable("".join(call.texts))))
        answer.prompt_tokens = call.prompt_tokens
        answer.completion_tokens = call.completion_tokens
        answer.finish_reason = call.finish_reason
        return answer

    return generate


def check_endpoint(
    endpoint: Endpoint, generate: GenerateFn, *, clock: Clock = time.monotonic
) -> str:
    """Return a sentence that says that the model answers, after asking it for one word.

    It is a real, small call: it costs some twenty tokens, and proves address, key and model.
    ``generate`` makes it, as `build_generate_fn` returns it for that endpoint.

    Raises:
        ModelError: it does not answer; the message says why and what to do.
    """
    started = clock()
    generate([{"role": "user", "content": "Reply with the word OK and nothing else."}])
    return f"{endpoint.host} answers as model '{endpoint.model}' ({clock() - started:.1f} s)."


@contextmanager
def _stepwise(
    work: Coroutine[None, None, ModelError | None],
) -> Iterator[tuple[asyncio.Task[ModelError | None], Callable[[], object]]]:
    """Yield the work as a task, and what lets it go on for a moment.

    Between two moments its event loop stands still, so the caller may do and raise anything. Work
    that is not done at the end is cancelled, and cleans up. The loop has a thread of its own, as
    the caller's may be inside another loop already: that of a notebook, say.
    """
    with ThreadPoolExecutor(1, "model_call") as thread:
        runner = asyncio.Runner(loop_factory=_Loop)
        task = runner.get_loop().create_task(work)

        def step() -> object:
            wait = asyncio.wait([task], timeout=POLL_SECONDS)
            return thread.submit(runner.run, wait).result()

        try:
            yield task, step
        finally:
            thread.submit(runner.close).result()


class _Loop(asyncio.SelectorEventLoop):
    """An event loop that waits for no host name: nothing can stop the look-up of one.

    Each has a thread of its own that ends with it, and keeps the process from ending no more than
    the loop. There are few at once, or a name server that says nothing would gather them.
    """

    _free = Semaphore(MOST_LOOK_UPS)

    async def getaddrinfo(self, *args: Any, **how: Any) -> Any:
        """Return the addresses of a host.

        Raises:
            ModelUnreachableError: too many names are still being looked up.
        """
        if not self._free.acquire(blocking=False):
            raise ModelUnreachableError(
                f"{MOST_LOOK_UPS} host names are still being looked up, and none is found; wait a "
                "minute, or give the base URL with a number in place of the name."
            )
        addresses: Future[Any] = Future()
        addresses.set_running_or_notify_cancel()

        def look_up() -> None:
            try:
                addresses.set_result(socket.getaddrinfo(*args, **how))
            except BaseException as error:  # noqa: BLE001 - handed on to who waits for it
                addresses.set_exception(error)
            finally:
                self._free.release()

        Thread(target=look_up, name="model_host", daemon=True).start()
        return await asyncio.wrap_future(addresses)
