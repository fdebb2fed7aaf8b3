"""The Lab Manager's answer in a model's words, beside the built-in text; it moves no verdict."""

from __future__ import annotations

import hashlib
from typing import Final

import streamlit as st

from replicalab.agents import FeasibilityCheckResult
from replicalab.errors import ModelError
from replicalab.llm import Endpoint, build_generate_fn
from replicalab.models import LabManagerAction
from replicalab.negotiation import Round, rewording
from replicalab.sentences import asked_only
from replicalab.ui.negotiation import model_settings, table
from replicalab.ui.negotiation.talks import Talks
from replicalab.ui.words import escaped

_REWORDED: Final = "reworded_answers"


def draw(talks: Talks, done: Round) -> None:
    """Draw the reworded answer, or a button that asks for it where a model is set."""
    answer, check = done.lab_manager_action, done.check
    if answer is None or check is None or asked_only(done):
        return
    key = _key(talks, done)
    found = st.session_state.get(_REWORDED, {}).get(key)
    if found is not None:
        st.markdown("**In the model's words** (they decide nothing)")
        st.text(found)
        return
    endpoint = model_settings.usable_endpoint()
    if endpoint is None:
        return
    if st.button("Let the model reword this", icon=":material/translate:", key="reword"):
        _reword(key, done, answer, check, endpoint)


def _key(talks: Talks, done: Round) -> str:
    """Return what tells this answer from one to another plan in the same round."""
    said = f"{table.origin_of(talks)} {done.model_dump_json()}"
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()


def _reword(
    key: str,
    done: Round,
    answer: LabManagerAction,
    check: FeasibilityCheckResult,
    endpoint: Endpoint,
) -> None:
    render = rewording(build_generate_fn(endpoint))
    try:
        with st.spinner("The model rewords the answer …", show_time=True):
            text = render(answer.action_type, check, done.suggestion)
    except ModelError as error:
        st.warning(escaped(str(error)), icon=":material/cloud_off:")
        return
    st.session_state.setdefault(_REWORDED, {})[key] = text
    st.rerun()
