"""The texts of a page, as a visitor reads them."""

import re
from typing import Any, Final, NamedTuple
from xml.etree import ElementTree

from streamlit.testing.v1 import AppTest, element_tree

from replicalab.scenarios import load_scenario
from replicalab.ui.workspace import TrayCase
from tests.ui.pages import PAGES
from tests.ui.walking import visit

COLOURS: Final = {"pass": "success", "caution": "warning", "fail": "error"}

_TEXTS: Final = (element_tree.Markdown, element_tree.Caption, element_tree.Text)
_ICON: Final = re.compile(r":material/\w+: ?")
_COLOUR: Final = re.compile(r":[a-z]+(?:-badge)?\[((?:\\.|[^\]\\])*)\]")
_ESCAPE: Final = re.compile(r"\\([!-/:-@\[-`{-~])")


def visit_lab(page: str, study: str, lab: str) -> AppTest:
    app, pack = visit(page, study=study, lab=lab), load_scenario(study, lab)
    assert pack.expected is not None
    tiers = {"below floor": ", below the floor", "above floor": ", misses the target"}
    feasible = f"Feasible{tiers.get(pack.expected.verdict, '')}"
    verdict = feasible if pack.expected.answer == "accept" else "Not feasible"
    # Its reference protocol has one lot an arm, and only a feasible plan's title has its cautions.
    few = ", too few lots" if (study, verdict) == ("chem_suzuki_ppb", "Feasible") else ""
    assert where(app) == f"{pack.paper.name} · {lab} lab · {verdict}{few}"
    return app


def links(app: AppTest) -> list[dict[str, str]]:
    result = (link.proto.query_string for link in app.get("page_link")[: len(PAGES)])
    return [dict(part.split("=", 1) for part in query.split("&")) for query in result]


def plain(markdown: str) -> str:
    text = _ICON.sub("", markdown).replace("\u2060", "").replace("\u200b", "")
    text = _COLOUR.sub(r"\1", text).replace("**", "")
    return _ESCAPE.sub(r"\1", text)


class Alert(NamedTuple):
    """A coloured box: ``error``, ``warning``, ``success`` or ``info``, and its text."""

    colour: str
    text: str


def alerts(app: AppTest) -> list[Alert]:
    kinds = ("error", "warning", "success", "info")
    return [
        Alert(element.type, plain(str(element.value)))
        for element in app.main
        if isinstance(element, element_tree.Element) and element.type in kinds
    ]


def texts(block: element_tree.Block) -> list[str]:
    read = [
        plain(str(part.value)) if isinstance(part, _TEXTS) else heard(panel_of(part))
        for part in block
        if isinstance(part, _TEXTS) or html_of(part)
    ]
    return [text for text in read if text]


_LINES: Final = frozenset({"p", "li", "tr", "h1", "h2", "h3", "div", "summary", "caption", "dt"})
_CELLS: Final = frozenset({"th", "td", "dd"})


def html_of(part: Any) -> str:
    return str(part.proto.body) if part.type == "html" else ""


def panel_of(element: Any) -> ElementTree.Element:
    return ElementTree.fromstring(f"<panel>{html_of(element)}</panel>")  # noqa: S314  # ours


def heard(part: ElementTree.Element) -> str:
    lines = (" ".join(line.split()).strip("| ") for line in _heard(part).split("\n"))
    return "\n".join(line for line in lines if line)


def _heard(part: ElementTree.Element) -> str:
    if part.tag == "style" or part.get("class") == "skip" or part.get("aria-hidden") == "true":
        return ""
    if part.get("role") == "img":
        return part.get("aria-label", "")
    inside = " ".join((part.text or "").split("\n"))
    inside += "".join(
        _heard(element) + " ".join((element.tail or "").split("\n")) for element in part
    )
    if part.tag in _CELLS:
        return f" | {inside}"
    return f"\n{inside}\n" if part.tag in _LINES and inside.strip() else inside


def bars_in(part: ElementTree.Element) -> list[ElementTree.Element]:
    return [element for element in part.iter("div") if "bar" in element.get("class", "").split()]


def panels(app: AppTest) -> list[ElementTree.Element]:
    return [panel_of(part) for part in app.get("html")]


def panel_tables(app: AppTest) -> list[list[list[str]]]:
    return [
        [[heard(cell) for cell in row if cell.tag in _CELLS] for row in table.iter("tr")]
        for panel in panels(app)
        for table in panel.iter("table")
    ]


def page_text(app: AppTest) -> str:
    return "\n".join([*texts(app.main), *(alert.text for alert in alerts(app))])


def drawer_of(app: AppTest) -> element_tree.Block:
    [block] = app.get("event")
    assert isinstance(block, element_tree.Block)
    return block


def in_drawer(app: AppTest) -> str:
    block = drawer_of(app)
    rows = [plain(str(item.label)) for item in block if isinstance(item, element_tree.Expander)]
    boxes = [
        plain(str(element.value))
        for element in block
        if isinstance(element, element_tree.Element)
        and element.type in ("error", "warning", "success")
    ]
    return "\n".join([*texts(block), *rows, *boxes])


def tray(app: AppTest) -> tuple[TrayCase, ...]:
    cases: tuple[TrayCase, ...] = app.session_state["state"].workspace.tray
    return cases


def keyed(app: AppTest, key: str) -> element_tree.Block:
    return next(
        node for node in app.main if isinstance(node, element_tree.Block) and node.key == key
    )


def where(app: AppTest) -> str:
    if (header := _header(app)) is None:
        return ""
    place, title = header.find(".//h1"), header.find(".//strong")
    assert place is not None
    return heard(place) if title is None else f"{heard(place)} · {heard(title).capitalize()}"


def status(app: AppTest) -> str:
    header = _header(app)
    assert header is not None
    return header.findall(".//p")[0].get("class", "")


def _header(app: AppTest) -> ElementTree.Element | None:
    panels = (panel_of(part) for part in app.main if html_of(part))
    elements = (panel for panel in panels if panel.find("./div[@class='rl header']") is not None)
    return next(elements, None)


def dimension(app: AppTest, name: str) -> list[str]:
    return next(row for row in panel_tables(app)[0] if row[0].endswith(name.capitalize()))


def table(app: AppTest, number: int = 0) -> list[list[str]]:
    return rows_of(app.table[number])


def rows_of(found: element_tree.Table) -> list[list[str]]:
    frame = found.value
    rows = [[str(name) for name in frame.columns], *frame.astype(str).to_numpy().tolist()]
    return [[plain(cell) for cell in row] for row in rows]
