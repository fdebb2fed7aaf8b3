"""A document as a Word file: it opens, says what Markdown says, and takes no text for XML."""

from __future__ import annotations

import re
from io import BytesIO
from zipfile import ZipFile

import docx as word
import pytest
from docx.document import Document as WordFile
from docx.oxml.ns import qn
from docx.text.paragraph import Paragraph
from lxml import etree

from replicalab.characters import on_one_line
from replicalab.registration import Registration
from replicalab.reports import Document, docx, markdown, report
from replicalab.views.blocks import Cell, Listing, Part, Sentence, Table
from replicalab.views.blocks import table as table_of
from tests.hostile import ATTACK, UNSEEN, marks
from tests.reports.making import DAY, strangers, work


def opened(document: Document, paper: str = "A4") -> WordFile:
    return word.Document(BytesIO(docx(document, "letter" if paper == "letter" else "A4")))


def parts_of(data: bytes) -> dict[str, bytes]:
    with ZipFile(BytesIO(data)) as file:
        return {name: file.read(name) for name in file.namelist()}


def small(*blocks: Sentence | Listing | Table, title: str = "A title") -> Document:
    return Document(title, "About", (Part("A part", blocks),), ("Foot.",), DAY)


def plain(text: str) -> str:
    """Return what a line of Markdown says, without its markup and signs."""
    text = re.sub(r"\]\(https://doi\.org/\S*\)", "]", text)
    text = re.sub(r"^(#+ |- (?!-)|---$)|(?<!\\)\*\*|(?<!\\)[\[\]]", "", text)
    return re.sub(r"\\(.)", r"\1", text).strip()


def lines_of(text: str) -> list[str]:
    """Return the lines of Markdown in their order, a row of a table as its cells."""
    found = []
    for line in filter(None, text.splitlines()):
        if line.startswith("|"):
            cells = re.split(r"(?<!\\)\|", line)[1:-1]
            found += [plain(cell) for cell in cells] * (set(line) != set("| -"))
        else:
            found.append(plain(line))
    return [each for each in found if each]


def said_in(file: WordFile) -> list[str]:
    """Return the same of a Word file."""
    found = []
    for part in file.iter_inner_content():
        if isinstance(part, Paragraph):
            found.append(part.text)
        else:
            found += [cell.text for row in part.rows for cell in row.cells]
    return [text for each in found if (text := " ".join(each.split()))]


@pytest.mark.parametrize("name", ["brief", "report"])
def test_word_file_says_what_markdown_says_in_its_order(name: str) -> None:
    shipped = work("fin_momentum", "medium"), work("psy_stroop", "hard")
    for found in (*strangers().values(), *shipped):
        document = found.brief() if name == "brief" else found.report()
        file = opened(document)
        # What Markdown says in a picture's place is read out of a Word file, and not seen.
        unseen = [on_one_line(picture.alt) for picture in document.pictures]
        lines = [" ".join(line.split()) for line in lines_of(markdown(document))]
        assert said_in(file) == [line for line in lines if line not in unseen]
        alts = [each._inline.docPr.get("descr") for each in file.inline_shapes]  # noqa: SLF001
        pictures = [f"{each.title}. {each.alt}" for each in document.pictures]
        assert alts == [on_one_line(text) for text in pictures]
        titles = [
            each.text for each in file.paragraphs if each.style and each.style.name == "Heading 1"
        ]
        assert titles == [part.title for part in document.parts if part.blocks]


def test_tables_repeat_their_headings_and_break_no_row() -> None:
    rows = tuple((Cell(f"row {n}"), Cell("a text " * 40)) for n in range(60))
    [table] = opened(small(table_of("Long", ("Name", "Text"), rows))).tables
    head, *others = table._tbl.tr_lst  # noqa: SLF001 - python-docx has no name for these marks
    for row in (head, *others):
        assert row.trPr is not None
        assert row.trPr.find(qn("w:cantSplit")) is not None
        assert (row.trPr.find(qn("w:tblHeader")) is not None) == (row is head)


def test_pages_are_numbered_on_either_paper() -> None:
    for paper, size in (("A4", (210, 297)), ("letter", (215.9, 279.4))):
        [section] = opened(small(Sentence("A text.")), paper).sections
        assert section.page_width is not None
        assert section.page_height is not None
        assert (section.page_width.mm, section.page_height.mm) == pytest.approx(size, abs=0.1)
        footer = section.footer._element.xml  # noqa: SLF001 - python-docx has no fields
        assert re.findall(r'w:instr="(\w+)"', footer) == ["PAGE", "NUMPAGES"]


def test_title_authors_and_day_are_those_of_its_properties() -> None:
    said = Registration(title="Our <own> title", authors="A. Nobody & B. Else")
    file = opened(report(work("psy_stroop", "medium").options, on=DAY, said=said))
    about = file.core_properties
    assert (about.title, about.author) == ("Our <own> title", "A. Nobody & B. Else")
    assert about.created is not None
    assert about.created.date() == DAY
    heading = [each.text for each in file.paragraphs[:2]]
    assert heading == ["Our <own> title", "A. Nobody & B. Else"]
    of_nobody = opened(small(Sentence("A text."), title="t" * 400)).core_properties
    assert (of_nobody.author, of_nobody.comments) == ("", ""), "nor whose the template is"
    assert len(of_nobody.title) <= 255


def test_hostile_texts_stand_in_it_as_texts() -> None:
    """Every part is XML, none of it a stranger's, and nothing leads anywhere but to a DOI."""
    hostile = f"{ATTACK}{UNSEEN}\ud800\ufffe\x0b<w:p/>]]>&#0;"
    document = small(
        Sentence(hostile, lead=hostile),
        Listing((Sentence(hostile),)),
        table_of(hostile, (hostile,), ((Cell(hostile, note=hostile),),)),
        title=hostile,
    )
    for found in (document, strangers()["run"].report()):
        data = docx(found)
        for name, part in parts_of(data).items():
            if name.endswith((".xml", ".rels")):
                etree.fromstring(part)
        external = re.findall(
            rb'Target="([^"]+)" TargetMode="External"', b"".join(parts_of(data).values())
        )
        assert not [each for each in external if not each.startswith(b"https://doi.org/")]
    assert on_one_line(hostile) in [each.text for each in opened(document).paragraphs]
    told = " ".join(said_in(opened(strangers()["run"].report())))
    assert marks(told) == marks(markdown(strangers()["run"].report()))


def test_citation_leads_to_its_doi() -> None:
    file = opened(work("fin_momentum", "medium").brief())
    [link] = [link for line in file.paragraphs for link in line.hyperlinks]
    assert link.text == "doi:10.1111/j.1540-6261.1993.tb04702.x"
    assert link.address == "https://doi.org/10.1111/j.1540-6261.1993.tb04702.x"


def test_word_file_is_the_same_bytes_each_time() -> None:
    document = work("psy_stroop", "hard").report()
    assert docx(document) == docx(document)
    with ZipFile(BytesIO(docx(document))) as file:
        assert {each.date_time[0] for each in file.infolist()} == {1980}
