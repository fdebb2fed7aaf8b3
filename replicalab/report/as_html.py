"""A document as one HTML file: no script, nothing from elsewhere, every text escaped."""

from __future__ import annotations

from markupsafe import Markup

from replicalab.panels.drawing import DOCUMENT_STYLE, drawn
from replicalab.report.document import Document


def html(document: Document) -> str:
    """Return a document as a page of its own, which prints as it is read."""
    # The stylesheet is ours.
    style = Markup(DOCUMENT_STYLE)  # noqa: S704
    return drawn("document", document=document, parts=_parts(document), style=style)


def preview(document: Document) -> str:
    """Return what such a page shows, as a panel of a page that has the stylesheet."""
    body = drawn("document_body", document=document, parts=_parts(document))
    return f'<div class="rl preview">{body}</div>'


def _parts(document: Document) -> list[dict[str, object]]:
    return [
        {"title": part.title, "blocks": [(type(block).__name__, block) for block in part.blocks]}
        for part in document.parts
        if part.blocks
    ]
