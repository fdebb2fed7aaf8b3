"""Bundles, and documents in each form; imported with the first document, for Jinja2."""

from replicalab.documents.bundle import OpenedBundle, bundle, open_bundle
from replicalab.facts.blocks import Document, Paper
from replicalab.facts.documents import brief, input_hash, of_run
from replicalab.facts.funding import funding_request
from replicalab.facts.report import report
from replicalab.render.html import document_html, preview
from replicalab.render.markdown import csv_tables, excel, markdown
