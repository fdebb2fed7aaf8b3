"""How results show themselves: one line at a prompt, the pages' panels in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from replicalab.characters import on_one_line
from replicalab.lexicon import shortened

if TYPE_CHECKING:
    from replicalab.views.blocks import Block

_LONGEST: Final = 200  # Characters of a line at a prompt


class OneLine:
    """A result that a prompt shows as one plain line: what it is, and what it comes to."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {shortened(on_one_line(self._line()), _LONGEST)}>"

    def _line(self) -> str:
        raise NotImplementedError


def page(*blocks: Block) -> str:
    """Return blocks as a notebook shows them."""
    from replicalab.render.html import in_notebook  # noqa: PLC0415 - Jinja2, with the first shown

    return in_notebook(*blocks)
