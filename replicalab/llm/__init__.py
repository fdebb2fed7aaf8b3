"""The language model: where it is reached, how it is asked, and a record of what was said.

    endpoint = Endpoint.from_environment(os.environ)      # None: show what_to_set(os.environ)
    recorder = Recorder(build_generate_fn(endpoint, on_progress=draw, cancelled=stop.is_set))
    result = call_scientist_with_retry(recorder, system_prompt, observation)
    attempts(recorder.calls)                              # prompts, raw outputs, codes, tokens

Everything that goes wrong is a `replicalab.errors.ModelError` with a message fit to be shown.
Importing this room does not import the openai package; the first call does.
"""

from replicalab.llm.answers import Answer
from replicalab.llm.endpoint import SETTINGS, Endpoint, missing_settings, what_to_set
from replicalab.llm.generate import build_generate_fn, check_endpoint
from replicalab.llm.recording import Attempt, Call, Message, Recorder, Usage, attempts
from replicalab.llm.watch import Progress

__all__ = [
    "SETTINGS",
    "Answer",
    "Attempt",
    "Call",
    "Endpoint",
    "Message",
    "Progress",
    "Recorder",
    "Usage",
    "attempts",
    "build_generate_fn",
    "check_endpoint",
    "missing_settings",
    "what_to_set",
]
