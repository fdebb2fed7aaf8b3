"""A language model behind any OpenAI-compatible endpoint.

    endpoint = Endpoint.from_environment(os.environ)  # None if what_to_set(os.environ) is not empty
    generate = build_generate_fn(endpoint, on_progress=draw)  # draw may raise to stop the call
    answer = ask_model(generate, state, scenario)

Every failure is a `replicalab.errors.ModelError` with a message fit to be shown. Importing this
package does not import the openai package; the first call does.
"""

from replicalab.llm.client import ModelReply, Progress, build_generate_fn, check_endpoint
from replicalab.llm.endpoint import (
    ALLOWED_SETTING,
    SETTINGS,
    AllowList,
    Endpoint,
    needed_endpoint,
    recording_of,
    what_to_set,
)
