"""Panels and documents as HTML, from Jinja2 templates that escape every text.

A page draws `STYLE` once for all panels.
"""

import re
from pathlib import Path
from typing import Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from replicalab.characters import shown
from replicalab.facts.blocks import Block, Document, Fold, Group, Panel, Table

_FOLDER: Final = Path(__file__).parent


_TEMPLATES: Final = Environment(
    loader=FileSystemLoader(_FOLDER / "templates"),
    autoescape=True,
    # Invisible characters are made visible; Markup is our own.
    finalize=lambda value: shown(value) if type(value) is str else value,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def _css(name: str) -> str:
    return (_FOLDER / f"{name}.css").read_text("utf-8")


_CSS: Final = _css("style")
STYLE: Final = f"<style>{_CSS}</style>"  # The stylesheet of all panels
STAGE_STYLE: Final = f"{STYLE}<style>{_css('stage')}</style>"
"""The same for slides, and the page around them."""
_DOCUMENT_STYLE: Final = f"{STYLE}<style>{_css('document')}</style>"

_NOTEBOOK: Final = "replicalab"
# Nested, every rule holds within a result alone, and outweighs what notebook.css takes back there.
_WITHIN: Final = f"{f'.{_NOTEBOOK}' * 4} {{{_CSS.replace(':root {', '& {', 1)}}}"
_NOTEBOOK_STYLE: Final = f"<style>{_css('notebook')}{_WITHIN}</style>"

_MORE_LINES: Final = 50  # numbered beyond the last one, for new lines
_NUMBERED_LINES: Final = 2000  # at most; a shipped study has some 250
_LINE_PX: Final = 20


def html(*blocks: Block) -> str:
    """Return blocks as a page shows them, one below the other."""
    drawn = []
    for block in blocks:
        has_box = isinstance(block, Group | Panel) or (isinstance(block, Table) and block.scrolls)
        drawn.append(_drawn(block if has_box else Group((block,))))
    return "".join(drawn)


def _drawn(block: Block, *, paper: bool = False) -> Markup:
    if isinstance(block, Panel):
        return _template(block.template, **block.facts)
    name = type(block).__name__.lower()
    if isinstance(block, Fold | Group):
        markup = Markup().join(_drawn(item, paper=paper) for item in block.blocks)
        result: Markup = getattr(_BLOCKS, name)(block, markup)
    else:
        result = getattr(_BLOCKS, name)(block, paper)
    return result


def _template(template: str, **facts: object) -> Markup:
    return Markup(_TEMPLATES.get_template(f"{template}.html").render(facts))  # noqa: S704 - escaped


_TEMPLATES.globals["drawn"] = _drawn
_TEMPLATES.globals["has_long_word"] = re.compile(r"\S{21}").search
_BLOCKS: Final = _TEMPLATES.get_template("blocks.html").module


def in_notebook(drawn: str) -> str:
    """Return HTML on a paper of its own, whatever the styles of the notebook around it."""
    return f'{_NOTEBOOK_STYLE}<div class="{_NOTEBOOK}">{drawn}</div>'


def document_html(document: Document) -> str:
    """Return a document as one file without scripts or requests."""
    return _template("document", document=document, style=Markup(_DOCUMENT_STYLE))  # noqa: S704 - ours


def preview(document: Document) -> str:
    """Return the same document as a panel of a page with the stylesheet."""
    body = _template("document_body", document=document)
    return f'<div class="rl preview">{body}</div>'


def numbers_style(key: str, text: str) -> str:
    """Return the style of the editor with that key: a picture of line numbers scrolls with it."""
    lines = min(text.count("\n") + 1 + _MORE_LINES, _NUMBERED_LINES)
    return _template("numbers", key=key, lines=lines, line=_LINE_PX, left=len(str(lines)))
