"""A chart as text, and its parts by name."""

import plotly.graph_objects as go


def labels(figure: go.Figure) -> list[str]:
    return [annotation.text for annotation in figure.layout.annotations]


def named(figure: go.Figure, name: str) -> go.Scatter:
    return next(item for item in figure.data if item.name == name)


def described(figure: go.Figure) -> str:
    texts = [str(figure.layout.title.text)]
    for axis in (*figure.select_xaxes(), *figure.select_yaxes()):
        if axis.range:
            low, high = axis.range
            texts.append(f"{axis.title.text or '-'} from {low:.4g} to {high:.4g}")
    for item in figure.data:
        if item.type == "heatmap":
            text = f"{len(item.x)} by {len(item.y)}" + (", reversed" if item.reversescale else "")
        else:
            points = [point for point in zip(item.x, item.y, strict=True) if point[0] is not None]
            ends = dict.fromkeys(f"{x:.4g}, {y:.4g}" for x, y in (*points[:1], *points[-1:]))
            text = " … ".join(ends)
        texts.append(f"{item.name}: {text}")
    texts.append(" | ".join(labels(figure)))
    return "\n".join(texts).replace("\u00a0", " ").replace("<br>", " ")
