"""Charts: plotly figures of assessments.

Their modules load on first use: with numpy they are a seventh of a cold start, and the first page
has no chart.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from replicalab.render.figures.convergence import convergence_chart, outcomes_figure
    from replicalab.render.figures.power import (
        evidence_by_effect,
        evidence_by_samples,
        frontier_figure,
        samples_by_effect,
    )
    from replicalab.render.figures.region_map import (
        over_panel,
        region_figure,
        region_marks,
        spot_of,
    )
    from replicalab.render.figures.sheet import Mark, Tag

CONFIG: Final = {
    "displaylogo": False,
    "modeBarButtons": [["toImage"]],
    "toImageButtonOptions": {"scale": 2},
    "responsive": True,
}
_MODULES: Final = ("convergence", "power", "region_map", "sheet")


def __getattr__(name: str) -> object:
    # The import system asks for a module here first. Loading the others for it, two threads could
    # wait for each other.
    for text in () if name in _MODULES else _MODULES:
        module = import_module(f"{__name__}.{text}")
        if hasattr(module, name):
            return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
