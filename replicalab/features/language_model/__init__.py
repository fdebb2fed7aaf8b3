"""A language model as the Scientist, behind any OpenAI-compatible endpoint.

    endpoint = Endpoint.from_environment(os.environ)
    generate = build_generate_fn(endpoint, on_progress=draw)  # draw may raise to stop the call
    turn = ask_model(generate, state, pack).turn

Every failure is a `replicalab.errors.ModelError` with a message fit to be shown. Importing this
package does not import the openai package; the first call does.
"""

from replicalab.features.language_model.client import (
    CountedModel,
    ModelReply,
    Progress,
    build_generate_fn,
    check_endpoint,
    reword,
)
from replicalab.features.language_model.endpoint import (
    ALLOWED_SETTING,
    SETTINGS,
    AllowList,
    Endpoint,
    recording_of,
    what_to_set,
)
