"""The brief and the report: what each is for, its files, and a look at it before."""

from collections.abc import Callable
from functools import partial
from threading import Lock
from typing import Final, get_args
from urllib.parse import urlencode

import streamlit as st

from replicalab.assessment import Assessment
from replicalab.characters import on_one_line
from replicalab.critique import PROTOCOL, Place, critique
from replicalab.documents import FORMS, Form
from replicalab.errors import PrintError
from replicalab.facts.critique import TITLE, critique_panel
from replicalab.lexicon import capitalised
from replicalab.models import FIELD_LABELS
from replicalab.planner.steps import differences
from replicalab.registration import LONGEST_LINE, Registration
from replicalab.reports import Document, Paper, csv_tables, excel, missing, pdf
from replicalab.ui import panel, state
from replicalab.ui.controls import button
from replicalab.ui.export.content import ExportContent, export_content, file_name
from replicalab.ui.files import download
from replicalab.ui.words import escaped

_ONE_AT_A_TIME: Final = Lock()  # a PDF takes a second or two of the processor


def draw_brief() -> None:
    """Draw what there is of the brief."""
    st.caption("One page for whoever decides: verdict, changes, cost, what it would take.")
    found = _asked()
    draw_files("brief", found.brief, found.name)
    draw_look("brief", found.brief, is_open=True)


def draw_funding() -> None:
    """Draw what there is of the funding request."""
    st.caption(
        "One page for a funder: the plan you ask for, its budget, what each cut costs in evidence, "
        "and what the target takes."
    )
    found = _asked()
    make = partial(found.funding, state.case().registration)
    draw_files("funding", make, found.name)
    draw_look("funding", make, is_open=True)


def draw_report() -> None:
    """Draw what there is of the report, and what only the visitor can say in it."""
    st.caption(
        "Fit for a preregistration: every choice with its reason, or “not given”. Reasons for "
        "numbers stand on Protocol under “Assumptions”."
    )
    found = _asked()
    said = _draw_said(found)
    _draw_critique(found.options.yours, said)
    make = partial(found.report, said)
    draw_files("report", make, partial(found.name, title=said.title))
    draw_look("report", make, is_open=False)


def draw_files(name: str, make: Callable[[], Document], file: Callable[[str, str], str]) -> None:
    """Draw the button of each form of a document."""
    reason = missing()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        paper = st.segmented_control(
            "Paper",
            get_args(Paper),
            format_func=str.capitalize,
            key="hand_paper",
            required=True,
            default="A4",
        )
        asked = st.button(
            "PDF", icon=":material/print:", disabled=bool(reason), key=f"hand_pdf_{name}"
        )
        for suffix, form in FORMS.items():
            if form.is_button:
                download(form.name, partial(_made, form, make, paper), file(name, suffix))
    if reason:
        st.caption(escaped(reason))
    elif asked:
        _draw_pdf(make(), paper, file(name, "pdf"))


def _made(form: Form, make: Callable[[], Document], paper: Paper) -> str | bytes:
    return form.make(make(), paper)


def _draw_pdf(document: Document, paper: Paper, name: str) -> None:
    """Draw the button that saves a PDF once it is made, or why it is not and what to do.

    A file that is made when its button is pressed could only fail without a reason.
    """
    try:
        with st.spinner("Making the PDF …"), _ONE_AT_A_TIME:
            data = pdf(document, paper)
    except PrintError as error:
        st.error(escaped(f"{capitalised(str(error))}."), icon=":material/print_disabled:")
    else:
        download(f"Save {name}", data, name, type="primary")


def draw_look(name: str, make: Callable[[], Document], *, is_open: bool) -> None:
    """Draw a look at a document, folded or not."""
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


def _asked() -> ExportContent:
    """Return what is on the screen; of a negotiation only where it is asked for."""
    found = export_content()
    return found if found.run is None else found.for_document(negotiated=_is_negotiated())


def _is_negotiated() -> bool:
    return st.toggle("With the negotiation", key="hand_negotiated", persist_state="session")


# --- what only its author can say ---------------------------------------------------------------


def _draw_said(found: ExportContent) -> Registration:
    """Draw title, authors and the reason for each change, folded; return what is said of them."""
    place = st.expander(
        "Title, authors, your reasons",
        icon=":material/edit:",
        key="hand_filling",
        on_change="rerun",
    )
    said = state.case().registration
    if place.open:
        with place:
            st.caption(
                "They are kept with the plan, and go into the report and its tables; what stays "
                "empty reads “not given”."
            )
            draw_line("Title", "title", said.title)
            draw_line("Authors", "authors", said.authors)
            yours = found.options.yours
            for name, *_ in differences(yours.pack.reference_protocol, yours.plan):
                label = f"{yours.pack.study.term(FIELD_LABELS[name])}: why it is changed"
                draw_line(label, "reasons", said.reasons.get(name, ""), name)
    return said


_EXAMPLES: Final = {
    "authors": "Ada Lovelace; Grace Hopper",
    "licence": "CC BY 4.0, or its address",
}


def draw_line(label: str, field: str, value: str, entry: str = "") -> None:
    """Draw a line of the registration, which is kept as it is typed."""
    case = state.case()
    key = f"hand_{case.study}_{field}_{entry}"
    if key not in st.session_state:
        st.session_state[key] = value

    def take() -> None:
        said, typed = state.case().registration, st.session_state[key].strip()
        if entry:
            others = {name: why for name, why in said.reasons.items() if name != entry}
            changed: object = {**others, **({entry: typed} if typed else {})}
        else:
            changed = typed
        state.show(registration=said.model_copy(update={field: changed}))

    example = _EXAMPLES.get(field, "")
    st.text_input(label, key=key, max_chars=LONGEST_LINE, placeholder=example, on_change=take)


# --- tables ---------------------------------------------------------------------------------


def draw_tables() -> None:
    """Draw the report's tables: all as one workbook, or one as CSV."""
    st.caption("The report’s tables with numbers as numbers, for a spreadsheet.")
    found = _asked()
    said = state.case().registration
    make = partial(found.report, said)
    name = found.name("tables", "xlsx", said.title)
    download("Excel, every table a sheet", lambda: excel(make()), name)
    tables = {table.caption: table for table in make().tables}
    chosen = st.selectbox("Table", list(tables), key="hand_table", format_func=on_one_line)
    if chosen is not None:
        name = file_name(f"{said.title} {chosen}", "csv")
        download("CSV of this table", lambda: csv_tables(make())[chosen], name)


TABS: Final = "export_part"  # Holds which part of the drawer is open
_PAGES: Final = {PROTOCOL: "Protocol"}
"""The address of each page that a place names; all others are drawers, or no page."""


def _draw_critique(plan: Assessment, said: Registration) -> None:
    """Draw the questions, folded; nothing is judged before that is opened."""
    place = st.expander(TITLE, icon=":material/rate_review:", key="critique", on_change="rerun")
    if place.open:
        with place:
            query = urlencode(state.address())
            panel.draw(critique_panel(critique(plan, said), partial(_link, query)))
            button("Answer on the form", "edit_note", _open_form, key="critique_to_form")


def _open_form() -> None:
    st.session_state[TABS] = "Registration"


def _link(query: str, place: Place) -> str:
    page = _PAGES.get(place.page)
    return f"{page}?{query}" if page else ""
