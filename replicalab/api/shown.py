"""How results show themselves: one line at a prompt, the pages' panels in a notebook."""

from __future__ import annotations

from typing import Final

from replicalab.characters import on_one_line
from replicalab.lexicon import shortened
from replicalab.views.blocks import Block

_LONGEST: Final = 200  # Characters of a line at a prompt


class Shown:
    """A result with one line for a prompt and blocks for a notebook."""

    def _line(self) -> str:
        raise NotImplementedError

    def _blocks(self) -> tuple[Block, ...]:
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {shortened(on_one_line(self._line()), _LONGEST)}>"

    def _repr_html_(self) -> str:
        from replicalab.render.html import in_notebook  # noqa: PLC0415 - Jinja2, with the first

        return in_notebook(*self._blocks())
