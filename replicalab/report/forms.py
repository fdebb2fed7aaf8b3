"""The forms of a document: a row each, by the ending of its file, for page and command line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from replicalab.report.as_html import html
from replicalab.report.as_markdown import markdown
from replicalab.report.as_pdf import pdf
from replicalab.report.as_tables import excel
from replicalab.report.document import Document


class Form(NamedTuple):
    """A form of a document.

    Attributes:
        name: what its button says.
        mime: the type of the file.
        make: the file of a document.
        is_button: whether it has a button of its own with the brief and the report; a PDF is
            printed by another process, and a workbook is saved under Tables.
    """

    name: str
    mime: str
    make: Callable[[Document], str | bytes]
    is_button: bool = True


FORMS: Final = {
    "html": Form("HTML", "text/html", html),
    "md": Form("Markdown", "text/markdown", markdown),
    "pdf": Form("PDF", "application/pdf", pdf, is_button=False),
    "xlsx": Form(
        "Excel",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        excel,
        is_button=False,
    ),
}
"""Every form, by the ending of its files."""
