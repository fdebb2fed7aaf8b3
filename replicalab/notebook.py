"""Base classes of core objects that a notebook shows.

The core imports no panel and no pandas, so `replicalab.render.notebook` is imported by name when
an object is shown.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

_RENDERER = "replicalab.render.notebook"


class Shown:
    """An object that a notebook shows as the pages do."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        html: str = import_module(_RENDERER).html_of(self)
        return html


class Framed(Shown):
    """An object with a table, too."""

    __slots__ = ()

    def frame(self) -> pd.DataFrame:
        """Return the table as a pandas data frame."""
        frame: pd.DataFrame = import_module(_RENDERER).frame_of(self)
        return frame
