"""What leaves: a one-page brief and a report, each one document in several forms."""

from replicalab.report.as_html import html, preview
from replicalab.report.as_markdown import markdown
from replicalab.report.as_pdf import Paper, missing, pdf
from replicalab.report.as_tables import csv_tables, excel
from replicalab.report.bundle import Opened, bundle, open_bundle
from replicalab.report.document import Document, Said
from replicalab.report.for_registry import report
from replicalab.report.for_stakeholder import brief
from replicalab.report.forms import FORMS, Form
from replicalab.report.origin import input_hash
from replicalab.report.parts import of_run
from replicalab.report.printing import pdf_apart

__all__ = [
    "FORMS",
    "Document",
    "Form",
    "Opened",
    "Paper",
    "Said",
    "brief",
    "bundle",
    "csv_tables",
    "excel",
    "html",
    "input_hash",
    "markdown",
    "missing",
    "of_run",
    "open_bundle",
    "pdf",
    "pdf_apart",
    "preview",
    "report",
]
