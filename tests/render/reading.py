"""What a chart says, as text, and its parts by name."""

from __future__ import annotations

import plotly.graph_objects as go


def labels(figure: go.Figure) -> list[str]:
    return [annotation.text for annotation in figure.layout.annotations]


def named(figure: go.Figure, name: str) -> go.Scatter:
    return next(each for each in figure.data if each.name == name)


def described(figure: go.Figure) -> str:
    """Return a chart's title, scales, labels, and where each of its lines begins and ends."""
    said = [str(figure.layout.title.text)]
    for axis in (*figure.select_xaxes(), *figure.select_yaxes()):
        if axis.range:
            low, high = axis.range
            said.append(f"{axis.title.text or '-'} from {low:.4g} to {high:.4g}")
    for each in figure.data:
        if each.type == "heatmap":
            told = f"{len(each.x)} by {len(each.y)}" + (", reversed" if each.reversescale else "")
        else:
            points = [point for point in zip(each.x, each.y, strict=True) if point[0] is not None]
            ends = dict.fromkeys(f"{x:.4g}, {y:.4g}" for x, y in (*points[:1], *points[-1:]))
            told = " … ".join(ends)
        said.append(f"{each.name}: {told}")
    said.append(" | ".join(labels(figure)))
    return "\n".join(said).replace("\u00a0", " ").replace("<br>", " ")
