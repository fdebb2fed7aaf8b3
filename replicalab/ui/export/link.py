"""A link to what is on the screen: the address in full, what it carries, and what it does not."""

from collections.abc import Iterator
from contextlib import suppress
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlencode, urlsplit

import streamlit as st

from replicalab.assessment import Assessment
from replicalab.case import Case
from replicalab.facts.lab import lab_text
from replicalab.facts.negotiation import LAB_MANAGERS, SCIENTISTS
from replicalab.lexicon import count_text, joined
from replicalab.negotiation import ScientistKind
from replicalab.planner.steps import differences
from replicalab.ui import state
from replicalab.ui.words import escaped

_BUNDLE: Final = "Send the bundle instead."


def draw() -> None:
    """Draw the link, with its own button that copies it, and what of the workspace is in it."""
    st.markdown(f"{_who_may_open_it(st.context.url or '')} The button beside the link copies it.")
    with st.container(key="hand_link"):
        st.code(url(), language=None, wrap_lines=True)
    st.markdown(f"**It carries** {escaped(joined(list(_carried(state.analysis().yours))))}.")
    if missing := list(_left_out(state.case())):
        st.markdown("**It does not carry**\n\n" + "\n".join(f"- {line}" for line in missing))


def _who_may_open_it(address: str) -> str:
    """Return for whom the link leads here: one of this machine leads nobody else anywhere."""
    host = urlsplit(address).hostname or ""
    with suppress(ValueError):
        if host == "localhost" or ip_address(host).is_loopback:
            return (
                "This address is of this machine only: it opens what you see in a browser here, "
                f"and for nobody elsewhere. {_BUNDLE}"
            )
    return "Anyone with this link who can reach this server sees this page."


def url() -> str:
    """Return the address of this page with the workspace in it."""
    return f"{st.context.url or ''}?{urlencode(state.address())}"


def _carried(yours: Assessment) -> Iterator[str]:
    """Yield what the link carries, as parts of a sentence."""
    work, case, pack = state.workspace(), state.case(), yours.pack
    yield f"the study {pack.paper.name}"
    if state.is_too_long():
        return
    yield f"its lab ({lab_text(pack)})"
    if changed := len(differences(pack.reference_protocol, yours.plan)):
        yield f"your plan, which differs from the study’s own in {count_text(changed, 'field')}"
    else:
        yield "the study’s own plan"
    if pack.asked:
        yield f"what you assume of the evidence ({joined(list(pack.asked))})"
    yield _players(case)
    if case.moves:
        yield f"the {count_text(len(case.moves), 'move')} that you played"
    if work.tray:
        yield f"{count_text(len(work.tray), 'plan')} in the comparison"
    if work.round_number:
        yield f"the view of round {work.round_number + 1}"


def _players(case: Case) -> str:
    if case.recording:
        return f"the recorded run {case.recording}"
    scientist, manager = SCIENTISTS[case.scientist].name, LAB_MANAGERS[case.lab_manager].name
    rounds = count_text(case.max_rounds, "round")
    return f"the players ({scientist} and {manager}, at most {rounds})"


def _left_out(case: Case) -> Iterator[str]:
    """Yield what a link leaves out, a line of Markdown each, with what to do."""
    if case.own:
        yield (
            "your study’s text: the link opens it from this server for as long as it is kept here. "
            f"{_BUNDLE}"
        )
    if state.is_too_long():
        yield f"your plan and the lab around it: they are too long for a link. {_BUNDLE}"
    if case.scientist is ScientistKind.MODEL and not case.recording:
        yield f"what a language model said. {_BUNDLE}"
