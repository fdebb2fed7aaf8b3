"""A batch as a heatmap: the share of each group of negotiations that ends agreed."""

from collections.abc import Sequence
from typing import Final

import plotly.graph_objects as go

from replicalab.render.figures.style import LABEL_SIZE, TITLE_LINE, figure, label, titled

_ROW: Final = 34
_AROUND: Final = 96
_LONGEST_NAME: Final = 34
# From none to all; each cell also holds its number.
_SHADES: Final = ((0.0, "#FBE3D2"), (0.5, "#CFE3EE"), (1.0, "#00659D"))
_DARK: Final = 0.75  # From this share on a shade is dark


def outcomes_figure(
    names: Sequence[str],
    labs: Sequence[str],
    shares: Sequence[Sequence[float | None]],
    texts: Sequence[Sequence[str]],
    title: str,
) -> go.Figure:
    """Return the shares as a heatmap, a row for each name and a column for each lab.

    Args:
        names: of the rows, the first on top.
        labs: of the columns.
        shares: by row and column, None where nothing was played.
        texts: each share in words, for whoever points at it.
        title: what is shown.
    """
    # Plotly reads tags in every label: without "<" there is none.
    many = enumerate(names, start=1)
    short = [f"{at}. {name[:_LONGEST_NAME].replace('<', '')}" for at, name in many]
    heat = {
        "type": "heatmap",
        "x": list(labs),
        "y": short,
        "z": [list(row) for row in shares],
        "zmin": 0,
        "zmax": 1,
        "text": [[cell.replace("<", "") for cell in row] for row in texts],
        "hovertemplate": "%{y}, %{x}: %{text}<extra></extra>",
        "colorscale": _SHADES,
        "showscale": False,
        "xgap": 2,
        "ygap": 2,
    }
    numbers = [
        label(
            f"{share:.0%}",
            x=lab,
            y=name,
            font={"size": LABEL_SIZE + 1, "color": "#FFFFFF" if share > _DARK else "#15181C"},
        )
        for name, row in zip(short, shares, strict=True)
        for lab, share in zip(labs, row, strict=True)
        if share is not None
    ]
    return figure([heat], {
        "annotations": numbers,
        "title": titled(title, y=1, yref="container", yanchor="top"),
        "height": _AROUND + _ROW * len(names),
        "margin": {"l": 8, "r": 8, "t": 2 * TITLE_LINE + 8, "b": 8},
        "xaxis": {"side": "top", "title": "lab", "automargin": True},
        "yaxis": {"autorange": "reversed", "automargin": True, "ticklabelstandoff": 6},
    })  # fmt: skip
