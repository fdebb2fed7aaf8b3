"""A document as a Word file: headings, lists and tables as such, pages numbered."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final

from replicalab.characters import on_one_line
from replicalab.lexicon import shortened
from replicalab.tables import undated
from replicalab.views.blocks import (
    Block,
    Cell,
    Document,
    Listing,
    Paper,
    Picture,
    Sentence,
    Status,
    Table,
)

if TYPE_CHECKING:
    from docx.document import Document as WordFile
    from docx.oxml.xmlchemy import BaseOxmlElement
    from docx.shared import Length
    from docx.table import _Cell, _Row
    from docx.text.paragraph import Paragraph

_SIGNS: Final = {Status.PASS: "✓ ", Status.CAUTION: "! ", Status.FAIL: "✕ "}
# As on paper in style.css.
_COLOURS: Final = {Status.PASS: "007051", Status.CAUTION: "855C00", Status.FAIL: "9F4600"}
_INK: Final = "101418"
_QUIET: Final = "5A5750"
_LINK: Final = "00659D"
_LINE: Final = "D8D4C9"
_PAPERS_MM: Final = {"A4": (210, 297), "letter": (215.9, 279.4)}
_MARGIN_MM: Final = 16
_TABLE_PT: Final = 9.0
# Of each style its size, and the room before and after it, in points.
_TYPE_PT: Final = {
    "Normal": (10.0, 0.0, 4.0),
    "Title": (17.0, 0.0, 2.0),
    "Heading 1": (13.0, 12.0, 3.0),
    "Caption": (_TABLE_PT, 5.0, 2.0),
    "List Bullet": (10.0, 0.0, 2.0),
    "Footer": (_TABLE_PT, 0.0, 0.0),
}
_PICTURE_SHARE: Final = 0.82  # Of the width of the text
_AFTER_PT: Final = 4.0  # Below a table
_COMPACT: Final = 0.85
"""How much smaller all of a brief is, which is to fit one page."""
_LONGEST_PROPERTY: Final = 254  # And a mark where it is cut: Word takes 255
# A column is as wide as its longest text, in letters, between these.
_LETTERS: Final = (5, 80)
_LETTER: Final = 0.52  # How wide a letter is on average, of its size
_PADDING: Final = 5


def docx(document: Document, paper: Paper = "A4") -> bytes:
    """Return a document as a Word file on that paper; the same bytes each time."""
    return _Writer(document, paper).data()


class _Writer:
    """A Word file in the making."""

    def __init__(self, document: Document, paper: Paper) -> None:
        from docx import Document as new_file  # noqa: N813, PLC0415 - slow to load

        self.document = document
        self.by = _COMPACT if document.compact else 1.0
        self.file: WordFile = new_file()
        self._describe()
        self._set_type()
        self._set_paper(*_PAPERS_MM[paper])

    def data(self) -> bytes:
        """Return the file with all that the document says."""
        held = self.document
        self._paragraph("Title").add_run(on_one_line(held.title))
        if held.authors:
            self._paragraph().add_run(on_one_line(held.authors))
        self._quiet(held.about)
        for part in held.parts:
            if part.blocks:
                self._paragraph("Heading 1").add_run(on_one_line(part.title))
                for block in part.blocks:
                    self._draw(block)
        for at, line in enumerate(held.foot):
            self._quiet(line, ruled=not at)
        saved = BytesIO()
        self.file.save(saved)
        return undated(saved.getvalue())

    # --- what holds of all of it ------------------------------------------------------------

    def _describe(self) -> None:
        """Say whose it is, and of which day; what the template says of itself goes."""
        about, held = self.file.core_properties, self.document
        about.title = shortened(on_one_line(held.title), _LONGEST_PROPERTY)
        about.author = shortened(on_one_line(held.authors), _LONGEST_PROPERTY)
        about.comments = about.last_modified_by = about.keywords = ""
        about.language = "en"
        about.created = about.modified = datetime(held.on.year, held.on.month, held.on.day)  # noqa: DTZ001 - a day has no zone

    def _set_type(self) -> None:
        from docx.shared import Pt, RGBColor  # noqa: PLC0415

        for name, (size, before, after) in _TYPE_PT.items():
            style = self.file.styles[name]
            style.font.name, style.font.size = "Arial", Pt(size * self.by)
            style.font.color.rgb = RGBColor.from_string(_INK if name != "Caption" else _QUIET)
            # The template names theme fonts beside the plain ones, and they win.
            fonts = style.element.rPr.rFonts
            for key in [key for key in fonts.attrib if "Theme" in key or key.endswith("eastAsia")]:
                del fonts.attrib[key]
            space = style.paragraph_format
            space.space_before, space.space_after = Pt(before * self.by), Pt(after * self.by)
            space.line_spacing = 1.1
            space.keep_with_next = name in ("Title", "Heading 1", "Caption")
        for border in self.file.styles["Title"].element.xpath("w:pPr/w:pBdr"):
            border.getparent().remove(border)

    def _set_paper(self, wide: float, high: float) -> None:
        from docx.enum.text import WD_ALIGN_PARAGRAPH  # noqa: PLC0415
        from docx.shared import Mm  # noqa: PLC0415

        page = self.file.sections[0]
        self.room = Mm(wide - 2 * _MARGIN_MM)
        page.page_width, page.page_height = Mm(wide), Mm(high)
        page.left_margin = page.right_margin = page.top_margin = Mm(_MARGIN_MM)
        page.bottom_margin, page.footer_distance = Mm(_MARGIN_MM), Mm(_MARGIN_MM / 2)
        line = page.footer.paragraphs[0]
        line.alignment = WD_ALIGN_PARAGRAPH.RIGHT
        for before, counted in (("", "PAGE"), (" of ", "NUMPAGES")):
            line.add_run(before)
            field = _element("w:fldSimple", instr=counted)
            shown = line.add_run("1")._r  # noqa: SLF001 - python-docx has no fields
            field.append(shown)
            line._p.append(field)  # noqa: SLF001

    # --- blocks -----------------------------------------------------------------------------

    def _draw(self, block: Block) -> None:
        match block:
            case Sentence():
                self._say(self._paragraph(), block)
            case Listing():
                for item in block.items:
                    self._say(self._paragraph("List Bullet"), item)
            case Table():
                self._draw_table(block)
            case Picture():
                self._draw_picture(block)
            case _:
                raise TypeError(f"a {type(block).__name__} is no block of a document")

    def _paragraph(self, style: str = "Normal") -> Paragraph:
        return self.file.add_paragraph(style=style)

    def _quiet(self, text: str, *, ruled: bool = False) -> None:
        line = self._paragraph()
        self._run(line, on_one_line(text), _QUIET)
        if ruled:
            rule = _element("w:pBdr")
            rule.append(_border("w:top"))
            line.paragraph_format.element.get_or_add_pPr().insert_element_before(
                rule, "w:spacing", "w:ind", "w:jc", "w:rPr"
            )

    def _say(self, line: Paragraph, said: Sentence) -> None:
        self._sign(line, said.status)
        if said.lead:
            line.add_run(on_one_line(said.lead)).bold = True
            line.add_run(" ")
        text, word = map(on_one_line, said.linked)
        self._run(line, text, _QUIET if said.quiet else "")
        if word:
            line.add_run(" ")
            self._link(line, word, said.link)

    def _sign(self, line: Paragraph, status: Status | None) -> None:
        if status:
            self._run(line, _SIGNS[status], _COLOURS[status]).bold = True

    def _run(self, line: Paragraph, text: str, colour: str = "") -> Any:
        from docx.shared import RGBColor  # noqa: PLC0415

        run = line.add_run(text)
        if colour:
            run.font.color.rgb = RGBColor.from_string(colour)
        return run

    def _link(self, line: Paragraph, text: str, to: str) -> None:
        from docx.opc.constants import RELATIONSHIP_TYPE  # noqa: PLC0415

        target = self.file.part.relate_to(to, RELATIONSHIP_TYPE.HYPERLINK, is_external=True)
        link = _element("w:hyperlink")
        link.set(_name("r:id"), target)
        run = self._run(line, text, _LINK)
        run.font.underline = True
        link.append(run._r)  # noqa: SLF001 - python-docx reads links, and makes none
        line._p.append(link)  # noqa: SLF001

    def _draw_picture(self, picture: Picture) -> None:
        from docx.shared import Length  # noqa: PLC0415

        from replicalab.render.pictures import alt_text, picture_png  # noqa: PLC0415 - slow to load

        line = self._paragraph()
        line.paragraph_format.keep_with_next = True
        self._say(line, Sentence(picture.text, f"{picture.title}.", quiet=True))
        png = BytesIO(picture_png(picture, titled=False))
        wide = Length(int(self.room * _PICTURE_SHARE))
        drawn = self._paragraph().add_run().add_picture(png, width=wide)
        about = drawn._inline.docPr  # noqa: SLF001 - python-docx has no name for what is read out
        about.set("descr", on_one_line(alt_text(picture)))

    # --- tables -----------------------------------------------------------------------------

    def _draw_table(self, table: Table) -> None:
        from docx.shared import Pt  # noqa: PLC0415

        self._paragraph("Caption").add_run(on_one_line(table.caption))
        held = self.file.add_table(rows=0, cols=len(table.columns))
        held.autofit = False
        _rule(held._tbl.tblPr)  # noqa: SLF001 - borders have no name in python-docx
        widths = self._widths(table)
        for column, wide in zip(held.columns, widths, strict=True):
            column.width = wide
        head = held.add_row()
        self._fill(head, [Cell(name) for name in table.names], widths, _QUIET)
        _mark(head, "w:tblHeader")
        for cell in head.cells:
            cell.paragraphs[0].paragraph_format.keep_with_next = True
        first_total = len(table.rows) - table.totals
        for at, cells in enumerate(table.rows):
            self._fill(held.add_row(), cells, widths, is_total=at >= first_total)
        for row in held.rows:
            _mark(row, "w:cantSplit", first=True)
        # Without a line between them Word joins two tables.
        self._paragraph().paragraph_format.line_spacing = Pt(_AFTER_PT)

    def _widths(self, table: Table) -> list[Length]:
        """Return the width of each column: short ones have what their longest text takes."""
        from docx.shared import Length, Pt  # noqa: PLC0415

        rows = ([cell.text for cell in row] for row in table.rows)
        least, most = _LETTERS
        needs = list[float]()
        for texts in zip(table.names, *rows, strict=True):
            needs.append(max(least, min(most, max(map(len, texts)))) + _PADDING)
        room = self.room / Pt(_TABLE_PT * self.by * _LETTER)
        fair = room / len(needs)
        left = room - sum(need for need in needs if need <= fair)
        others = sum(need for need in needs if need > fair)
        if others:
            needs = [need if need <= fair else need * left / others for need in needs]
        return [Length(int(self.room * need / sum(needs))) for need in needs]

    def _fill(
        self,
        row: _Row,
        cells: Sequence[Cell],
        widths: Iterable[Length],
        colour: str = "",
        *,
        is_total: bool = False,
    ) -> None:
        for place, cell, wide in zip(row.cells, cells, widths, strict=True):
            place.width = wide
            self._write(place, cell, colour, is_total=is_total)

    def _write(self, place: _Cell, cell: Cell, colour: str, *, is_total: bool) -> None:
        from docx.shared import Pt  # noqa: PLC0415

        [line] = place.paragraphs
        line.paragraph_format.space_after = Pt(1)
        self._sign(line, cell.status)
        self._run(line, on_one_line(cell.text), colour).bold = is_total
        if cell.note:
            self._run(line, f" {on_one_line(cell.note)}", _QUIET)
        for run in line.runs:
            run.font.size = Pt(_TABLE_PT * self.by)


# --- what python-docx has no name for -------------------------------------------------------


def _name(name: str) -> str:
    from docx.oxml.ns import qn  # noqa: PLC0415

    return qn(name)


def _element(name: str, **values: str) -> BaseOxmlElement:
    """Return an element of Word's; its attributes are Word's, too."""
    from docx.oxml import OxmlElement  # noqa: PLC0415

    made: BaseOxmlElement = OxmlElement(name)
    for key, value in values.items():
        made.set(_name(f"w:{key}"), value)
    return made


def _border(side: str) -> BaseOxmlElement:
    return _element(side, val="single", sz="4", space="0", color=_LINE)


def _rule(look: BaseOxmlElement) -> None:
    """Rule a table below each row."""
    rules = _element("w:tblBorders")
    rules.append(_border("w:bottom"))
    rules.append(_border("w:insideH"))
    look.insert_element_before(rules, "w:shd", "w:tblLayout", "w:tblCellMar", "w:tblLook")


def _mark(row: _Row, name: str, *, first: bool = False) -> None:
    """Mark a row; Word wants the marks in their order."""
    marks = row._tr.get_or_add_trPr()  # noqa: SLF001 - python-docx has no name for these marks
    marks.insert(0 if first else len(marks), _element(name))
