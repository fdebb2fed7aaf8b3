"""What leaves: a one-page brief and a report, each one document in several forms."""

from replicalab.render.docx import docx
from replicalab.render.html import document_html, preview
from replicalab.render.markdown import csv_tables, excel, markdown
from replicalab.render.pdf import missing, pdf
from replicalab.reports.bundle import OpenedBundle, bundle, open_bundle
from replicalab.views.blocks import Document, Paper
from replicalab.views.documents import brief, input_hash, of_run
from replicalab.views.funding import funding_request
from replicalab.views.report import report
