"""Two drawers of every page: Share, with a part for each form, and Open a file."""

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from functools import partial
from ipaddress import ip_address
from typing import Final, NamedTuple
from urllib.parse import urlencode, urlsplit

import streamlit as st

from replicalab.answers import Registration
from replicalab.characters import on_one_line
from replicalab.documents import FORMATS, Report, bundle
from replicalab.errors import NegotiationError, TraceError
from replicalab.facts.blocks import Document, Status
from replicalab.facts.check_facts import header_panel
from replicalab.facts.document_facts import of_run
from replicalab.lexicon import count_text, joined
from replicalab.limits import LONGEST_LABEL
from replicalab.models import FIELD_LABELS
from replicalab.negotiation import Negotiation, Recording, ScientistKind
from replicalab.negotiation.case import Case
from replicalab.planner import PlanAnalysis
from replicalab.planner.least_loss import differences
from replicalab.render.html import preview
from replicalab.render.markdown import csv_tables, excel
from replicalab.scenarios import Pack, lab_json, plan_json
from replicalab.ui import screen, state
from replicalab.ui.controls import ICONS, button, escape, fold, open_tab, page_link
from replicalab.ui.file_kinds import Opening, open_file
from replicalab.ui.file_transfer import download, upload
from replicalab.ui.library_page.keeping import note_of
from replicalab.ui.negotiation_page import saved_runs, sessions

TABS: Final = "export_part"  # session key of the open part of the drawer
SHARE: Final = "export_is_open"
OPENING: Final = "opening_is_open"
_OPENED: Final = "handed_file_opened"
_NO_LETTERS: Final = re.compile(r"[^a-z0-9]+")
_NAME_LENGTH: Final = 60
_EXAMPLES: Final = {"authors": "Ada Lovelace; Grace Hopper", "licence": "CC BY 4.0, or its address"}
_CAPTIONS: Final = {
    "brief": "One page for a decision: verdict, changes, cost, and the means for the target.",
    "funding": "One page for a funder: plan, budget, evidence lost by each cut, and the means for "
    "the target.",
    "report": "Fit for a preregistration: every choice with its reason, or “not given”. Give "
    "reasons for numbers on Protocol under “Assumptions”.",
}
_BUNDLE: Final = "Send the bundle instead."


def open_drawer(drawer: str = SHARE) -> None:
    """Open a drawer, ``SHARE`` or ``OPENING``, in the next run."""
    st.session_state.pop(_OPENED, None)
    st.session_state[drawer] = True


def draw_if_open() -> None:
    if st.session_state.pop(SHARE, False):
        _draw()
    elif st.session_state.pop(OPENING, False):
        _draw_opening()


@st.dialog("Share", position="right", width="medium", on_dismiss="rerun")
def _draw() -> None:
    screen.draw_scheme()
    parts: dict[str, Callable[[], None]] = {"Link": _draw_link}
    parts |= {kind.capitalize(): partial(_draw_document, kind) for kind in _CAPTIONS}
    parts |= {"Tables": _draw_tables, "Bundle": _draw_bundle}
    parts |= screen.draw_features("share", None)
    with open_tab(parts, TABS) as name:
        parts[name]()


@st.dialog("Open a file", position="right", width="medium", on_dismiss="rerun")
def _draw_opening() -> None:
    screen.draw_scheme()
    upload("JSON or YAML file", "handed_file", _open)
    opened: Opening | None = st.session_state.get(_OPENED)
    if opened is None:
        st.caption(
            "A bundle, negotiation, plan or lab, or a study. It replaces the open plan; see Undo."
        )
        return
    st.success(escape(opened.text), icon=":material/check_circle:")
    if opened.caution:
        st.warning(escape(opened.caution), icon=ICONS[Status.CAUTION])
    screen.draw(header_panel(state.analysis().yours, yours=state.case().plan is not None))
    with st.container(horizontal=True, vertical_alignment="center"):
        page_link("pages/1_Protocol.py", "Protocol", "tune")
        page_link("pages/2_Negotiation.py", "Negotiation", "forum")
        button("Undo", "undo", _undo, key="handed_undo", disabled=not state.current().past)


def _undo() -> None:
    st.session_state.pop(_OPENED, None)
    state.undo()


def _open(data: bytes, name: str) -> None:
    st.session_state.pop(_OPENED, None)
    st.session_state[_OPENED] = open_file(data, name)


@dataclass(frozen=True)
class ExportContent:
    """The content of a workspace, for files that another thread makes without the session."""

    options: PlanAnalysis
    written: Pack  # the study in its lab as their authors wrote both
    run: Negotiation | None
    recording: Recording | None  # of the negotiation's language model
    decision: str  # the note of the saved plan; empty if another plan is open
    on: date

    def document(self, kind: str, registration: Registration) -> Document:
        return Report(self.options, self.run, kind, self.on, registration, self.decision).document

    def name(self, kind: str, suffix: str, title: str = "") -> str:
        pack = self.options.yours.pack
        return file_name(f"{title or f'{pack.scenario_id} {pack.difficulty}'} {kind}", suffix)


def export_content() -> ExportContent:
    analysis, run, recording = state.analysis(), None, None
    with suppress(NegotiationError, TraceError):  # the Negotiation page shows the problem
        session = sessions.current(analysis.yours)
        if session.negotiation.rounds and session.negotiation.pack == analysis.yours.pack:
            run, recording = (
                session.negotiation,
                session.recording or saved_runs.recording_of(session),
            )
    today = datetime.now(UTC).astimezone().date()
    decision = note_of(analysis.yours)
    return ExportContent(analysis, state.author_pack(), run, recording, decision, today)


def file_name(text: str, suffix: str) -> str:
    """Return a file name of plain letters, digits and hyphens."""
    plain = _NO_LETTERS.sub("-", text.lower()).strip("-")[:_NAME_LENGTH].strip("-")
    return f"{plain or 'replicalab'}.{suffix}"


def _chosen_content() -> ExportContent:
    content = export_content()
    if content.run is None:
        return content
    if not st.toggle("With the negotiation", key="hand_negotiated", persist_state="session"):
        return replace(content, run=None)
    options = of_run(content.options, content.run)
    return replace(content, options=options, decision=note_of(options.yours))


def _draw_document(kind: str) -> None:
    st.caption(_CAPTIONS[kind])
    content, registration = _chosen_content(), state.case().registration
    is_report = kind == "report"
    if is_report:
        label = "Title, authors, your reasons"
        with fold(label, "hand_filling", icon=":material/edit:") as shows:
            if shows:
                _draw_fields(content, registration)
        screen.draw_features("report", content.options)
    make = partial(content.document, kind, registration)
    title = registration.title if is_report else ""
    document = DocumentFiles(kind, make, partial(content.name, title=title))
    draw_files(document, is_open=not is_report)


def _draw_fields(content: ExportContent, registration: Registration) -> None:
    st.caption("Saved with the plan. Empty fields read “not given” in the report.")
    draw_line("Title", "title", registration.title)
    draw_line("Authors", "authors", registration.authors)
    yours = content.options.yours
    for name, *_ in differences(yours.pack.reference_protocol, yours.plan):
        label = f"{yours.pack.study.term(FIELD_LABELS[name])}: why it is changed"
        draw_line(label, "reasons", registration.reasons.get(name, ""), name)


def _draw_tables() -> None:
    st.caption("The report’s tables with numbers as numbers, for a spreadsheet.")
    content, registration = _chosen_content(), state.case().registration
    make = partial(content.document, "report", registration)
    name = content.name("tables", "xlsx", registration.title)
    download("All tables as Excel", lambda: excel(make()), name)
    captions = [table.caption for table in make().tables]
    chosen = st.selectbox("Table", captions, key="hand_table", format_func=on_one_line)
    if chosen is not None:
        name = file_name(f"{registration.title} {chosen}", "csv")
        download("CSV of this table", lambda: csv_tables(make())[chosen], name)


class DocumentFiles(NamedTuple):
    """A document for its buttons; ``name`` returns a file's name by kind and extension."""

    kind: str
    make: Callable[[], Document]
    name: Callable[[str, str], str]


def draw_files(document: DocumentFiles, *, is_open: bool = False) -> None:
    """Draw a button for each export format, and the document in an expander."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for extension, row in FORMATS.items():
            if row.is_button:
                write = partial(lambda row: row.make(document.make()), row)
                download(row.name, write, document.name(document.kind, extension))
    screen.draw_features("files", document)
    key, icon = f"hand_look_{document.kind}", ":material/visibility:"
    with fold("See it", key, expanded=is_open, icon=icon) as shows:
        if shows:
            screen.draw_styles(preview(document.make()))


def draw_line(label: str, field: str, value: str, entry: str = "") -> None:
    """Draw a text field of the registration; ``entry`` is a key of a field with several texts."""
    key = f"hand_{state.case().study}_{field}_{entry}"
    st.session_state.setdefault(key, value)

    def take() -> None:
        registration, typed = state.case().registration, st.session_state[key].strip()
        changed: object = typed
        if entry:
            reasons = {**registration.reasons, entry: typed}
            changed = {name: why for name, why in reasons.items() if why}
        state.update(registration=registration.model_copy(update={field: changed}))

    example = _EXAMPLES.get(field, "")
    st.text_input(label, key=key, max_chars=LONGEST_LABEL, placeholder=example, on_change=take)


def _draw_bundle() -> None:
    content = export_content()
    plan, run = content.options.yours.plan, content.run
    played = f"negotiation ({count_text(len(run.rounds), 'round')})" if run else ""
    parts = joined([*filter(None, ("Study", "lab", "question", "plan", played))])
    st.caption(f"{parts} as one file. Open it on any computer under More, Open a file.")
    whole = partial(bundle, content.options, content.written, run, content.recording)
    download("Bundle", whole, content.name("bundle", "json"), type="primary")
    with st.container(horizontal=True):
        alone = partial(plan_json, plan, content.written.scenario_id)
        download("Plan alone", alone, content.name("plan", "json"))
        lab = partial(lab_json, state.case().own_lab)
        download("Lab alone", lab, content.name("lab", "json"))


def _draw_link() -> None:
    url = st.context.url or ""
    host, is_local = urlsplit(url).hostname or "", False
    with suppress(ValueError):
        is_local = host == "localhost" or ip_address(host).is_loopback
    reach = "Anyone with this link who can reach this server sees this page."
    if is_local:
        reach = "This link works only on this computer. To share, send the bundle."
    st.markdown(reach)
    with st.container(key="hand_link"):
        st.code(f"{url}?{urlencode(state.address())}", language=None, wrap_lines=True)
    if not state.is_too_long():
        st.markdown(
            "It opens this page with your study, lab, plan, players and comparison. "
            "The button next to it copies it."
        )
    if missing := list(_left_out(state.case())):
        st.markdown("**It does not carry**\n\n" + "\n".join(f"- {line}" for line in missing))


def _left_out(case: Case) -> Iterator[str]:
    if case.own:
        yield f"the file of your study: this server keeps it for some time only. {_BUNDLE}"
    if state.is_too_long():
        yield f"your plan and the lab around it: they are too long for a link. {_BUNDLE}"
    if case.scientist is ScientistKind.MODEL and not case.recording:
        yield f"the answers of a language model. {_BUNDLE}"
