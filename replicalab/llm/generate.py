"""The two ways to ask a model: as a `GenerateFn`, and once, to see whether it answers."""

from __future__ import annotations

import time

from replicalab.agents.scientist_policy import GenerateFn
from replicalab.llm.endpoint import Endpoint
from replicalab.llm.watch import Cancelled, OnProgress, Watch
from replicalab.negotiation.recording import Clock

_TEST_MESSAGE = {"role": "user", "content": "Reply with the word OK and nothing else."}


def build_generate_fn(
    endpoint: Endpoint,
    *,
    on_progress: OnProgress | None = None,
    cancelled: Cancelled | None = None,
    clock: Clock = time.monotonic,
) -> GenerateFn:
    """Return a function that sends chat messages to the endpoint and returns the answer's text.

    The text is an `Answer`, a ``str`` that also carries the tokens and the finish reason. It is
    what the model said, whatever that is: an empty answer is ``""`` (the parser then says
    ``no_json`` and the model is asked again), an answer cut at the token cap is returned as far
    as it goes. Only what no file can hold is replaced by U+FFFD, and the key, should a server
    repeat it, by ``[key]``.

    Rate limits, failures of the server and dropped connections are tried again
    (``endpoint.max_retries`` times); a silent server is not. One function may be called from
    several threads at once.

    Args:
        endpoint: whom to ask, and the limits.
        on_progress: called in the caller's thread, at most ten times a second and once at the
            end, also while nothing has come yet. What it raises ends the call and is not caught.
        cancelled: asked about ten times a second, also while nothing has come yet; True ends the
            call with `ModelCancelledError`. Only opening a connection (10 seconds at most) and a
            pause before a retry (5 seconds at most) are not interrupted.
        clock: seconds that only grow.

    Raises (from the returned function):
        ModelError: no answer; the message says why and what to do. See `replicalab.errors`.
    """

    def generate(messages: list[dict[str, str]]) -> str:
        # It brings the openai package, which takes 0.3 s to import: too long for each start.
        from replicalab.llm import wire  # noqa: PLC0415 - imported with the first call, see above

        return wire.ask(endpoint, messages, Watch(endpoint, on_progress, cancelled, clock))

    return generate


def check_endpoint(
    endpoint: Endpoint,
    *,
    on_progress: OnProgress | None = None,
    cancelled: Cancelled | None = None,
    clock: Clock = time.monotonic,
) -> str:
    """Return a sentence that says that the model answers, after asking it for one word.

    It is a real, small call: it costs some twenty tokens, and proves address, key and model.

    Raises:
        ModelError: it does not answer; the message says why and what to do.
    """
    started = clock()
    generate = build_generate_fn(
        endpoint, on_progress=on_progress, cancelled=cancelled, clock=clock
    )
    generate([dict(_TEST_MESSAGE)])
    return f"{endpoint.host} answers as model '{endpoint.model}' ({clock() - started:.1f} s)."
