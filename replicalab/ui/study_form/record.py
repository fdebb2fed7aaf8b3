"""The study in the form, and the names of a new one."""

from itertools import count
from typing import Final

import streamlit as st

from replicalab import drafts
from replicalab.drafts import NAME, NEW_NAME, Draft
from replicalab.drafts.session import NEW_ID, FormSession
from replicalab.scenarios import Study, list_scenarios, parse_study, term_in
from replicalab.ui import own_studies, state

_KEY: Final = "study_form"


def current() -> FormSession:
    """Return what this visitor is making."""
    if _KEY not in st.session_state:
        st.session_state[_KEY] = FormSession(own_studies.usable_study)
    session: FormSession = st.session_state[_KEY]
    return session


def draft() -> Draft:
    """Return what the form shows."""
    return current().draft


def term(name: str) -> str:
    """Return a label of the program in the words of the study's field."""
    return term_in(str(draft().at("domain_id")), name)


def new_id() -> str:
    """Return an id that no study of this visitor or of the shelf has."""
    taken = {*own_studies.kept(), *(summary.scenario_id for summary in list_scenarios())}
    names = (NEW_ID if n == 1 else f"{NEW_ID}_{n}" for n in count(1))
    return next(name for name in names if name not in taken)


def free_name() -> str:
    """Return a name for a new study that no other has."""
    return drafts.free_name(NEW_NAME, own_studies.names())


def with_free_name(text: str) -> str:
    """Return the file of a copy under a name that no other study has."""
    study = parse_study(text, NAME)
    name, longest = study.paper.name, drafts.longest_name(study)
    return drafts.renamed(text, study, drafts.free_name(name, own_studies.names(), longest))


def open_on_protocol(text: str, study: Study) -> str:
    """Keep a study and open it on Protocol; return why it cannot be kept, and change nothing."""
    refused = own_studies.refusal(text, study) or state.bring(text, study)
    if not refused:
        st.switch_page("pages/1_Protocol.py", query_params=state.address())
    return refused
