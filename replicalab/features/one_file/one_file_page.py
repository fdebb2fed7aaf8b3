"""The part One file of the drawer Share."""

from collections.abc import Callable
from functools import partial

import streamlit as st

from replicalab.documents import today
from replicalab.errors import NegotiationError, PrintError, TraceError
from replicalab.features import one_file
from replicalab.ui import present, state
from replicalab.ui.controls import escape
from replicalab.ui.export import file_name
from replicalab.ui.file_transfer import download
from replicalab.ui.library_page.drafting import case_to_save
from replicalab.ui.negotiation_page import sessions


def panel(_: str, __: None) -> dict[str, Callable[[], None]]:
    return {one_file.TITLE: _draw}


def _draw() -> None:
    st.caption(
        "The slides and three sliders of the lab in one HTML file: it opens without ReplicaLab and "
        "without a network, prints as a deck, and takes some seconds to write."
    )
    here = state.analysis()
    try:
        run = sessions.current(here.yours)
    except (NegotiationError, TraceError):
        run = None
    slides = [shown.panel for shown in present.slides(here, run)]
    made = partial(one_file.file_html, here.yours, slides, today(), case_to_save(state.case()))
    name = here.yours.pack.paper.name
    download("Save the file", made, file_name(name, "html"))
    if st.button("PDF of the slides", icon=":material/print:", key="one_file_pdf"):
        lab = here.yours.pack.lab
        only = one_file.SliderValues((lab.budget,), (lab.days,), (lab.staff,))
        try:
            with st.spinner("Making the PDF …"):
                data = one_file.pdf(made(sliders=only))
        except PrintError as error:
            st.error(escape(f"{error}."), icon=":material/print_disabled:")
        else:
            download("Save the PDF", data, file_name(name, "pdf"), type="primary")
