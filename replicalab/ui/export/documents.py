"""The documents of the drawer: brief, funding request, report and tables, each with its files."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from functools import partial
from typing import Final, NamedTuple

import streamlit as st

from replicalab.characters import on_one_line
from replicalab.documents import FORMS, Form, Report, forms
from replicalab.errors import NegotiationError, TraceError
from replicalab.limits import LONGEST_LABEL
from replicalab.models import FIELD_LABELS
from replicalab.negotiation import Negotiation, Recording
from replicalab.planner import PlanAnalysis
from replicalab.planner.least_loss import differences
from replicalab.registration import Registration
from replicalab.scenarios import Pack
from replicalab.ui import panel, state
from replicalab.ui.files import download
from replicalab.ui.library.keeping import note_of
from replicalab.ui.negotiation import files, table

TABS: Final = "export_part"  # session key of the open part of the drawer
_NO_LETTERS: Final = re.compile(r"[^a-z0-9]+")
_NAME_LENGTH: Final = 60
_EXAMPLES: Final = {"authors": "Ada Lovelace; Grace Hopper", "licence": "CC BY 4.0, or its address"}


@dataclass(frozen=True)
class ExportContent:
    """The content of a workspace, without the session: another thread makes files of it.

    Attributes:
        options: the plan in its lab.
        written: the study in its lab as their author wrote both.
        run: the negotiation, or None.
        recording: its language model, if known.
        decision: the note of the saved plan; empty if another plan is open.
        on: the date.
    """

    options: PlanAnalysis
    written: Pack
    run: Negotiation | None
    recording: Recording | None
    decision: str
    on: date

    def document(self, kind: str, said: Registration) -> forms.Document:
        """Return a document with what its author says."""
        return Report(self.options, self.run, kind, self.on, said, self.decision).document

    def bundle(self) -> str:
        """Return everything as one file."""
        return forms.bundle(self.options, self.written, self.run, self.recording)

    def name(self, what: str, suffix: str, title: str = "") -> str:
        """Return the name of a file, after its title if it has one."""
        pack = self.options.yours.pack
        return file_name(f"{title or f'{pack.scenario_id} {pack.difficulty}'} {what}", suffix)


def export_content() -> ExportContent:
    """Return the content of the open workspace."""
    analysis, run, recording = state.analysis(), None, None
    try:
        session = table.current(analysis.yours)
        if session.negotiation.rounds and session.negotiation.pack == analysis.yours.pack:
            run, recording = session.negotiation, session.recording or files.recording_of(session)
    except (NegotiationError, TraceError):
        pass  # the Negotiation page shows why
    today = datetime.now(UTC).astimezone().date()
    decision = note_of(analysis.yours)
    return ExportContent(analysis, state.written(), run, recording, decision, today)


def file_name(text: str, suffix: str) -> str:
    """Return a file name of plain letters, digits and hyphens."""
    plain = _NO_LETTERS.sub("-", text.lower()).strip("-")[:_NAME_LENGTH].strip("-")
    return f"{plain or 'replicalab'}.{suffix}"


def _chosen_content() -> ExportContent:
    """Return the content, of the plan or, if the visitor chooses so, of the negotiation."""
    content = export_content()
    if content.run is None:
        return content
    if not st.toggle("With the negotiation", key="hand_negotiated", persist_state="session"):
        return replace(content, run=None)
    options = forms.of_run(content.options, content.run)
    return replace(content, options=options, decision=note_of(options.yours))


# --- the parts of the drawer ------------------------------------------------------------------


def draw_brief() -> None:
    """Draw the brief and its files."""
    st.caption("One page for whoever decides: verdict, changes, cost, what it would take.")
    content = _chosen_content()
    make = partial(content.document, "brief", state.case().registration)
    draw_files("brief", make, content.name)
    draw_look("brief", make, is_open=True)


def draw_funding() -> None:
    """Draw the funding request and its files."""
    st.caption(
        "One page for a funder: the plan you ask for, its budget, what each cut costs in evidence, "
        "and what the target takes."
    )
    content = _chosen_content()
    make = partial(content.document, "funding", state.case().registration)
    draw_files("funding", make, content.name)
    draw_look("funding", make, is_open=True)


def draw_report() -> None:
    """Draw the report, its files, and the fields for what only its author knows."""
    st.caption(
        "Fit for a preregistration: every choice with its reason, or “not given”. Reasons for "
        "numbers stand on Protocol under “Assumptions”."
    )
    content = _chosen_content()
    registration = state.case().registration
    fields = st.expander(
        "Title, authors, your reasons",
        icon=":material/edit:",
        key="hand_filling",
        on_change="rerun",
    )
    if fields.open:
        with fields:
            _draw_fields(content, registration)
    panel.draw_features("report", content.options)
    make = partial(content.document, "report", registration)
    draw_files("report", make, partial(content.name, title=registration.title))
    draw_look("report", make, is_open=False)


def _draw_fields(content: ExportContent, said: Registration) -> None:
    st.caption(
        "They are kept with the plan, and go into the report and its tables; what stays "
        "empty reads “not given”."
    )
    draw_line("Title", "title", said.title)
    draw_line("Authors", "authors", said.authors)
    yours = content.options.yours
    for name, *_ in differences(yours.pack.reference_protocol, yours.plan):
        label = f"{yours.pack.study.term(FIELD_LABELS[name])}: why it is changed"
        draw_line(label, "reasons", said.reasons.get(name, ""), name)


def draw_tables() -> None:
    """Draw the files of the report's tables: one workbook, or one table as CSV."""
    st.caption("The report’s tables with numbers as numbers, for a spreadsheet.")
    content = _chosen_content()
    registration = state.case().registration
    make = partial(content.document, "report", registration)
    name = content.name("tables", "xlsx", registration.title)
    download("Excel, every table a sheet", lambda: forms.excel(make()), name)
    captions = [table.caption for table in make().tables]
    chosen = st.selectbox("Table", captions, key="hand_table", format_func=on_one_line)
    if chosen is not None:
        name = file_name(f"{registration.title} {chosen}", "csv")
        download("CSV of this table", lambda: forms.csv_tables(make())[chosen], name)


# --- a document -------------------------------------------------------------------------------


class DocumentFiles(NamedTuple):
    """A document for its buttons.

    Attributes:
        kind: of the document.
        make: makes it.
        name: returns the name of a file by kind and ending.
    """

    kind: str
    make: Callable[[], forms.Document]
    name: Callable[[str, str], str]


def draw_files(
    kind: str, make: Callable[[], forms.Document], name: Callable[[str, str], str]
) -> None:
    """Draw a button for each form of a document."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for ending, form in FORMS.items():
            if form.is_button:
                download(form.name, partial(_made, form, make), name(kind, ending))
    panel.draw_features("files", DocumentFiles(kind, make, name))


def _made(form: Form, make: Callable[[], forms.Document]) -> str | bytes:
    return form.make(make())


def draw_look(name: str, make: Callable[[], forms.Document], *, is_open: bool) -> None:
    """Draw a document, in an expander."""
    look = st.expander(
        "See it",
        expanded=is_open,
        icon=":material/visibility:",
        on_change="rerun",
        key=f"hand_look_{name}",
    )
    if look.open:
        with look:
            panel.draw_document(make())


def draw_line(label: str, field: str, value: str, entry: str = "") -> None:
    """Draw a text field of the registration; ``entry`` is a key of a field with several texts."""
    key = f"hand_{state.case().study}_{field}_{entry}"
    if key not in st.session_state:
        st.session_state[key] = value

    def take() -> None:
        registration, typed = state.case().registration, st.session_state[key].strip()
        changed: object = typed
        if entry:
            others = {name: why for name, why in registration.reasons.items() if name != entry}
            changed = {**others, **({entry: typed} if typed else {})}
        state.show(registration=registration.model_copy(update={field: changed}))

    example = _EXAMPLES.get(field, "")
    st.text_input(label, key=key, max_chars=LONGEST_LABEL, placeholder=example, on_change=take)
