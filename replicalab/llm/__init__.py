"""The language model: where it is reached, and how it is asked.

    endpoint = Endpoint.from_environment(os.environ)      # None: show what_to_set(os.environ)
    generate = build_generate_fn(endpoint, on_progress=draw)  # draw may raise, to stop it
    answer = ask_model(generate, state, scenario)         # the turn, and every attempt at it

Everything that goes wrong is a `replicalab.errors.ModelError` with a message fit to be shown.
Importing this room does not import the openai package; the first call does.
"""

from replicalab.llm.call import (
    MOST_LOOK_UPS,
    ModelReply,
    Progress,
    build_generate_fn,
    check_endpoint,
)
from replicalab.llm.endpoint import (
    ALLOWED_SETTING,
    LONGEST_KEY,
    SETTINGS,
    Allowed,
    Endpoint,
    needed_endpoint,
    recording_of,
    what_to_set,
)
