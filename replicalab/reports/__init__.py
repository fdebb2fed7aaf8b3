"""What leaves: a one-page brief and a report, each one document in several forms."""

from replicalab.facts.blocks import Document, Paper
from replicalab.facts.documents import brief, input_hash, of_run
from replicalab.facts.funding import funding_request
from replicalab.facts.report import report
from replicalab.render.html import document_html, preview
from replicalab.render.markdown import csv_tables, excel, markdown
from replicalab.reports.bundle import OpenedBundle, bundle, open_bundle
