"""A document as HTML, Markdown and tables, with hostile texts too."""

import csv
import re
from functools import cache
from html.parser import HTMLParser
from io import BytesIO, StringIO
from typing import Final
from zipfile import ZipFile

import openpyxl
import pytest

from replicalab.answers import Registration
from replicalab.characters import shown
from replicalab.facts.blocks import Cell, Document, Listing, Part, Sentence, Table
from replicalab.facts.blocks import table as table_of
from replicalab.facts.report_facts import report
from replicalab.lexicon import one_line
from replicalab.render.html import document_html
from replicalab.render.markdown import csv_tables, excel, markdown
from replicalab.tables import unguarded
from tests.hostile import ATTACK, marks, read_as_markup
from tests.reports.making import DAY, strangers, texts_of, work

ELEMENTS: Final = set(
    "html head meta title style body main header footer section h1 h2 p strong ul li table caption "
    "thead tbody tr th td span div i b a".split()
)
ATTRIBUTES: Final = set(
    "lang charset name content http-equiv class scope aria-hidden aria-label role style href "
    "target rel".split()
)
FORMULA: Final = "=HYPERLINK(0)"


class Read(HTMLParser):
    """A page with its elements and its text, as a browser reads it."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.opened: list[str] = []
        self.names: list[str] = []
        self.attributes: set[str] = set()
        self.texts: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag not in {"meta"}:
            self.opened.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.opened.pop() == tag, f"{tag} was not open"

    def handle_data(self, data: str) -> None:
        if self.opened and self.opened[-1] != "style":
            self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())


@cache
def documents() -> tuple[Document, ...]:
    shipped = work("fin_momentum", "medium"), work("psy_stroop", "hard")
    every = [*strangers().values(), *shipped]
    return *(result.brief() for result in every), *(result.report() for result in every)


def small(*blocks: Sentence | Listing | Table) -> Document:
    return Document("A title", "About", (Part("A part", blocks),), ("Foot.",), DAY)


def test_html_contains_every_text() -> None:
    for document in documents():
        page = Read(document_html(document))
        missing = [text for text in texts_of(document) if one_line(shown(text)) not in page.text]
        assert missing == page.opened == []
        assert {*page.names} <= ELEMENTS
        assert page.attributes <= ATTRIBUTES
        assert page.names.count("h1") == 1
        tables = len([*document.tables])
        assert page.names.count("caption") == page.names.count("table") == tables
        assert "default-src 'none'" in document_html(document)


def test_report_contains_hostile_texts() -> None:
    result = strangers()["run"]
    page, text = document_html(result.report()), markdown(result.report())
    assert {223, 224} <= marks(page), "the lab's name and a reason"
    assert len(marks(page)) > 10
    assert marks(text) == marks(page)
    texts = [text for text in texts_of(strangers()["study"].report()) if marks(text)]
    assert any(ATTACK.partition("\n")[0] in text for text in texts), "they are an attack"


def test_hostile_texts_are_no_markdown() -> None:
    for document in documents():
        text = markdown(document)
        assert read_as_markup(text) == []
        assert not [line for line in text.splitlines() if line.startswith(("    ", "\t"))]


def test_markdown_rows_have_as_many_cells_as_names() -> None:
    hostile = small(table_of("Of pipes", ("a|b", "c"), ((Cell("x | y\n| z |"), Cell("\\|")),)))
    rows = [line for line in markdown(hostile).splitlines() if line.startswith("|")]
    assert [row.replace("\\\\", "").replace("\\|", "").count("|") for row in rows] == [3, 3, 3]


def test_csv_has_every_table_and_digit() -> None:
    for document in documents():
        record = csv_tables(document)
        assert [*record] == [table.caption for table in document.tables]
        for table in document.tables:
            names, *rows = csv.reader(StringIO(record[table.caption].removeprefix("\ufeff")))
            assert [*map(unguarded, names)] == [*table.names]
            for row, cells in zip(rows, table.rows, strict=True):
                for value, cell in zip(row, cells, strict=True):
                    assert_holds(value, cell)


NUMBER: Final = re.compile(r"([+−±]?)([\d,]+(?:\.\d+)?)( %)?(?: samples?| days?| free| credits)?")


def assert_holds(value: str, cell: Cell) -> None:
    match = NUMBER.fullmatch(cell.text)
    if cell.number is None:
        assert unguarded(value) == shown(cell.text)
        assert not match, cell.text
        return
    if match:
        mark, figures, percent = match.groups()
        part = 100 if percent else 1
        away = 0.5 * 10 ** -len(figures.partition(".")[2]) / part
        size = float(figures.replace(",", "")) / part * (-1 if mark == "−" else 1)
        assert cell.number == pytest.approx(size, abs=away * 1.001), cell.text
    sign, digits = (-1, value[1:]) if value.startswith("-") else (1, value)
    assert sign * float(digits) == pytest.approx(cell.number, rel=1e-15, abs=0)


def test_workbook_keeps_texts_and_numbers() -> None:
    table = table_of("Of [a]/b: c?", ("Name", "=1+1"), ((Cell(FORMULA), Cell("−1,050", -1050.0)),))
    book = openpyxl.load_workbook(BytesIO(excel(small(table))))
    [sheet] = book.worksheets
    kinds = [[cell.data_type for cell in row] for row in sheet.iter_rows()]
    assert kinds == [["s", "s"], ["s", "n"]]
    assert [[cell.value for cell in row] for row in sheet.iter_rows()] == [
        ["Name", "=1+1"],
        [FORMULA, -1050],
    ]
    for document in documents():
        book = openpyxl.load_workbook(BytesIO(excel(document)))
        assert len(book.worksheets) == len([*document.tables])
        result = {cell.data_type for sheet in book for row in sheet.iter_rows() for cell in row}
        assert result <= {"s", "inlineStr", "n"}, "strangers write no formula"


def test_every_form_has_title_and_authors() -> None:
    result = work("psy_stroop", "medium")
    registration = Registration(
        title="Our <own> title", authors="A. Nobody", reasons={"sample_size": "We have =40."}
    )
    document = report(result.options, on=DAY, answers=registration)
    page = document_html(document)
    assert "<title>Our &lt;own&gt; title</title>" in page
    assert '<meta name="author" content="A. Nobody">' in page
    assert markdown(document).startswith("# Our \\<own\\> title\n\nA. Nobody\n")
    book = openpyxl.load_workbook(BytesIO(excel(document)))
    assert (book.properties.title, book.properties.creator) == ("Our <own> title", "A. Nobody")
    values = [cell.value for sheet in book for row in sheet.iter_rows() for cell in row]
    assert [value for value in values if "We have =40." in str(value)]
    assert result.written.paper.name in document.about
    of_nobody = result.report()
    assert 'name="author"' not in document_html(of_nobody)
    text = ZipFile(BytesIO(excel(of_nobody))).read("docProps/core.xml").decode()
    assert of_nobody.title in text
    assert "creator" not in text
