"""Two drawers of every page: Share, with a part for each form, and Open a file."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlencode, urlsplit

import streamlit as st

from replicalab.assessment import Assessment
from replicalab.case import Case
from replicalab.facts.blocks import Status
from replicalab.facts.check import header_panel
from replicalab.facts.lab import lab_text
from replicalab.facts.negotiation import LAB_MANAGERS, SCIENTISTS
from replicalab.lexicon import count_text, joined
from replicalab.negotiation import ScientistKind
from replicalab.planner.least_loss import differences
from replicalab.scenarios import lab_json
from replicalab.scenarios.writing import plan_json
from replicalab.ui import panel, state
from replicalab.ui.controls import button, open_tab, page_link
from replicalab.ui.documents import Opening, open_file
from replicalab.ui.export import documents
from replicalab.ui.files import download, upload
from replicalab.ui.words import ICONS, escaped

_OPEN: Final = "export_is_open"
_OPENING: Final = "opening_is_open"
_OPENED: Final = "handed_file_opened"
_BUNDLE: Final = "Send the bundle instead."


def open_drawer() -> None:
    """Open the Share drawer in the next run."""
    st.session_state[_OPEN] = True


def open_opening() -> None:
    """Open the drawer for a file in the next run."""
    st.session_state.pop(_OPENED, None)
    st.session_state[_OPENING] = True


def draw_if_open() -> None:
    """Draw the drawer that was just opened."""
    if st.session_state.pop(_OPEN, False):
        _draw()
    elif st.session_state.pop(_OPENING, False):
        _draw_opening()


@st.dialog("Share", position="right", width="medium", on_dismiss="rerun")
def _draw() -> None:
    panel.draw_scheme()
    parts = _PARTS | panel.draw_features("share", None)
    with open_tab(parts, documents.TABS) as name:
        parts[name]()


# --- open a file ------------------------------------------------------------------------------


@st.dialog("Open a file", position="right", width="medium", on_dismiss="rerun")
def _draw_opening() -> None:
    panel.draw_scheme()
    upload("A bundle, a negotiation, a plan, a lab (JSON), or a study (YAML)", "handed_file", _take)
    opened: Opening | None = st.session_state.get(_OPENED)
    if opened is None:
        st.caption("It takes the place of what is open, which Undo brings back.")
        return
    st.success(escaped(opened.text), icon=":material/check_circle:")
    if opened.caution:
        st.warning(escaped(opened.caution), icon=ICONS[Status.CAUTION])
    panel.draw(header_panel(state.analysis().yours, yours=state.case().plan is not None))
    with st.container(horizontal=True, vertical_alignment="center"):
        page_link("pages/1_Protocol.py", "Protocol", "tune")
        page_link("pages/2_Negotiation.py", "Negotiation", "forum")
        button("Undo", "undo", _take_back, key="handed_undo", disabled=not state.current().past)


def _take_back() -> None:
    st.session_state.pop(_OPENED, None)
    state.undo()


def _take(data: bytes, name: str) -> None:
    st.session_state.pop(_OPENED, None)
    st.session_state[_OPENED] = open_file(data, name)


# --- the bundle -------------------------------------------------------------------------------


def _draw_bundle() -> None:
    content = documents.export_content()
    plan, run = content.options.yours.plan, content.run
    talks = f"negotiation ({count_text(len(run.rounds), 'round')})" if run else ""
    parts = joined([*filter(None, ("Study", "lab", "question", "plan", talks))])
    st.caption(
        f"{parts} as one file. It opens here and elsewhere under More, Open a file, with its study."
    )
    download("Bundle", content.bundle, content.name("bundle", "json"), type="primary")
    with st.container(horizontal=True):
        alone = partial(plan_json, plan, content.written.scenario_id)
        download("Plan alone", alone, content.name("plan", "json"))
        lab = state.case().own_lab
        download("Lab alone", partial(lab_json, lab), content.name("lab", "json"))


# --- the link ---------------------------------------------------------------------------------


def _draw_link() -> None:
    """Draw the link, what of the workspace it carries, and what it does not."""
    reach = "Anyone with this link who can reach this server sees this page."
    if _is_local(st.context.url or ""):
        reach = (
            "This address is of this machine only: it opens what you see in a browser here, "
            f"and for nobody elsewhere. {_BUNDLE}"
        )
    st.markdown(f"{reach} The button beside the link copies it.")
    with st.container(key="hand_link"):
        url = f"{st.context.url or ''}?{urlencode(state.address())}"
        st.code(url, language=None, wrap_lines=True)
    st.markdown(f"**It carries** {escaped(joined(list(_carried(state.analysis().yours))))}.")
    if missing := list(_left_out(state.case())):
        st.markdown("**It does not carry**\n\n" + "\n".join(f"- {line}" for line in missing))


def _is_local(address: str) -> bool:
    host = urlsplit(address).hostname or ""
    with suppress(ValueError):
        return host == "localhost" or ip_address(host).is_loopback
    return False


def _carried(yours: Assessment) -> Iterator[str]:
    """Yield the parts that the link carries."""
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
    if case.recording:
        yield f"the recorded run {case.recording}"
    else:
        scientist, manager = SCIENTISTS[case.scientist].name, LAB_MANAGERS[case.lab_manager].name
        rounds = count_text(case.max_rounds, "round")
        yield f"the players ({scientist} and {manager}, at most {rounds})"
    if case.moves:
        yield f"the {count_text(len(case.moves), 'move')} that you played"
    if work.tray:
        yield f"{count_text(len(work.tray), 'plan')} in the comparison"
    if work.round_number:
        yield f"the view of round {work.round_number + 1}"


def _left_out(case: Case) -> Iterator[str]:
    """Yield the parts that the link leaves out, as Markdown with the remedy."""
    if case.own:
        yield (
            "your study’s text: the link opens it from this server for as long as it is kept here. "
            f"{_BUNDLE}"
        )
    if state.is_too_long():
        yield f"your plan and the lab around it: they are too long for a link. {_BUNDLE}"
    if case.scientist is ScientistKind.MODEL and not case.recording:
        yield f"what a language model said. {_BUNDLE}"


_PARTS: Final[dict[str, Callable[[], None]]] = {
    "Link": _draw_link,
    "Brief": documents.draw_brief,
    "Funding": documents.draw_funding,
    "Report": documents.draw_report,
    "Tables": documents.draw_tables,
    "Bundle": _draw_bundle,
}
