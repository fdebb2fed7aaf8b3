"""How a panel is made: its template, filled with text that is escaped, and bars in its cells."""

from __future__ import annotations

from pathlib import Path
from typing import Final, NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from replicalab.characters import shown

_FOLDER: Final = Path(__file__).parent


def _made_safe(value: object) -> object:
    """Return what a template writes, with the characters that nobody sees made visible."""
    return shown(value) if type(value) is str else value


_TEMPLATES: Final = Environment(
    loader=FileSystemLoader(_FOLDER / "templates"),
    autoescape=True,
    finalize=_made_safe,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_CSS: Final = (_FOLDER / "style.css").read_text("utf-8")
STYLE: Final = f"<style>{_CSS}</style>"
"""The stylesheet of all panels."""
STAGE_STYLE: Final = f"{STYLE}<style>{(_FOLDER / 'stage.css').read_text('utf-8')}</style>"
"""The same for slides, and the page around them."""

DOCUMENT_STYLE: Final = f"{STYLE}<style>{(_FOLDER / 'document.css').read_text('utf-8')}</style>"
"""The same for a document, which is a page of its own and leaves on paper."""

_NOTEBOOK: Final = "replicalab"
_NOTEBOOK_CSS: Final = (_FOLDER / "notebook.css").read_text("utf-8")
# Nested, every rule holds within a result alone, and outweighs what notebook.css takes back there.
_WITHIN: Final = f"{f'.{_NOTEBOOK}' * 4} {{{_CSS.replace(':root {', '& {', 1)}}}"


class Bar(NamedTuple):
    """A bar in a cell and the marks of limits on it, as shares of its width.

    Attributes:
        to: where it ends.
        marks: where limits stand.
        begins: where it begins.
    """

    to: float
    marks: tuple[float, ...] = ()
    begins: float = 0.0


def drawn(template: str, **facts: object) -> str:
    """Return a panel: a template filled with facts, every text of them escaped."""
    return _TEMPLATES.get_template(f"{template}.html").render(facts)


def in_notebook(*panels: str) -> str:
    """Return panels on a paper of their own, whatever the styles of the notebook around them."""
    style = f"<style>{_NOTEBOOK_CSS}{_WITHIN}</style>"
    return f'{style}<div class="{_NOTEBOOK}">{"".join(panels)}</div>'
