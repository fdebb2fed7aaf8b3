"""The buttons for Word and PDF below a document."""

from threading import Lock
from typing import Final, get_args

import streamlit as st

from replicalab.errors import PrintError
from replicalab.facts.blocks import Paper
from replicalab.features import office
from replicalab.lexicon import capitalised
from replicalab.ui.controls import escape
from replicalab.ui.export import DocumentFiles
from replicalab.ui.file_transfer import download

_ONE_PDF: Final = Lock()  # a PDF takes a second or two of the processor


def panel(_: str, files: DocumentFiles) -> None:
    """Draw the choice of the paper and the buttons, and the PDF once it is asked for."""
    reason = office.missing()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        paper: Paper = st.segmented_control(
            "Paper",
            get_args(Paper),
            format_func=str.capitalize,
            key="hand_paper",
            required=True,
            default="A4",
        )
        is_asked = st.button(
            "PDF", icon=":material/print:", disabled=bool(reason), key=f"hand_pdf_{files.kind}"
        )
        name = files.name(files.kind, "docx")
        download("Word", lambda: office.docx(files.make(), paper), name)
    if reason:
        st.caption(escape(reason))
    elif is_asked:  # made before its button is drawn: a download cannot show why it failed
        name = files.name(files.kind, "pdf")
        try:
            with st.spinner("Making the PDF …"), _ONE_PDF:
                data = office.pdf(files.make(), paper)
        except PrintError as error:
            st.error(escape(f"{capitalised(str(error))}."), icon=":material/print_disabled:")
        else:
            download(f"Save {name}", data, name, type="primary")
