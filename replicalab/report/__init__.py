"""What leaves: a one-page brief and a report, each one document in several forms."""

from replicalab.report.as_html import html
from replicalab.report.as_markdown import markdown
from replicalab.report.as_pdf import pdf
from replicalab.report.as_tables import csv_tables, excel
from replicalab.report.document import Document
from replicalab.report.for_registry import report
from replicalab.report.for_stakeholder import brief

__all__ = ["Document", "brief", "csv_tables", "excel", "html", "markdown", "pdf", "report"]
