"""The brief and the report: what each is for, its files, and a look at it before."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

import streamlit as st

from replicalab.characters import on_one_line
from replicalab.errors import PrintError
from replicalab.lexicon import capitalised
from replicalab.report import FORMS, Document, Form, Paper, csv_tables, excel, missing, preview
from replicalab.ui import panel
from replicalab.ui.handing import filling
from replicalab.ui.handing.printing import PRESS
from replicalab.ui.handing.whole import Whole, download, file_name, whole
from replicalab.ui.words import escaped

_PAPERS: Final[tuple[Paper, ...]] = ("A4", "letter")
_PAPER: Final = "hand_paper"
_NEGOTIATED: Final = "hand_negotiated"


def draw_brief() -> None:
    """Draw what there is of the brief."""
    st.caption("One page for whoever decides: verdict, changes, cost, what it would take.")
    found = _asked()
    _draw_files("brief", found.brief, found.name)
    _draw_look("brief", found.brief, is_open=True)


def draw_report() -> None:
    """Draw what there is of the report, and what only the visitor can say in it."""
    st.caption(
        "Fit for a preregistration: every choice with its reason, or “not given”. Reasons for "
        "numbers stand on Protocol under “Assumptions”."
    )
    found = _asked()
    said = filling.draw(found)
    make = partial(found.report, said)
    _draw_files("report", make, partial(found.name, title=said.title))
    _draw_look("report", make, is_open=False)


def _draw_files(name: str, make: Callable[[], Document], file: Callable[[str, str], str]) -> None:
    reason = missing()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        paper = _paper(disabled=bool(reason))
        asked = st.button(
            "PDF", icon=":material/print:", disabled=bool(reason), key=f"hand_pdf_{name}"
        )
        for suffix, form in FORMS.items():
            if form.is_button:
                download(form.name, partial(_made, form, make), file(name, suffix))
    if reason:
        st.caption(escaped(reason))
    elif asked:
        _draw_pdf(make(), paper, file(name, "pdf"))


def _made(form: Form, make: Callable[[], Document]) -> str | bytes:
    return form.make(make())


def _draw_pdf(document: Document, paper: Paper, name: str) -> None:
    """Draw the button that saves a PDF once it is made, or why it is not and what to do.

    A file that is made when its button is pressed could only fail without a reason.
    """
    try:
        with st.spinner("Making the PDF …"):
            data = PRESS.pdf(document, paper)
    except PrintError as error:
        st.error(escaped(f"{capitalised(str(error))}."), icon=":material/print_disabled:")
    else:
        download(f"Save {name}", data, name, type="primary")


def _draw_look(name: str, make: Callable[[], Document], *, is_open: bool) -> None:
    look = st.expander(
        "See it",
        expanded=is_open,
        icon=":material/visibility:",
        on_change="rerun",
        key=f"hand_look_{name}",
    )
    if look.open:
        with look:
            panel.draw(preview(make()))


def _asked() -> Whole:
    """Return what is on the screen; of a negotiation only where it is asked for."""
    found = whole()
    if found.run is None:
        return found
    negotiated = st.toggle("With the negotiation", key=_NEGOTIATED, persist_state="session")
    return found.told(negotiated=negotiated)


def _paper(*, disabled: bool) -> Paper:
    return st.segmented_control(
        "Paper",
        _PAPERS,
        format_func=str.capitalize,
        key=_PAPER,
        required=True,
        default="A4",
        disabled=disabled,
    )


# --- tables ---------------------------------------------------------------------------------


def draw_tables() -> None:
    """Draw the report's tables: all as one workbook, or one as CSV."""
    st.caption("The report’s tables with numbers as numbers, for a spreadsheet.")
    found = _asked()
    said = filling.said(found)
    make = partial(found.report, said)
    name = found.name("tables", "xlsx", said.title)
    download("Excel, every table a sheet", lambda: excel(make()), name)
    tables = {table.caption: table for table in make().tables}
    chosen = st.selectbox("Table", list(tables), key="hand_table", format_func=on_one_line)
    if chosen is not None:
        name = file_name(f"{said.title} {chosen}", "csv")
        download("CSV of this table", lambda: csv_tables(make())[chosen], name)
