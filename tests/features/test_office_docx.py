"""A document as a Word file: it opens, has all texts, and reads no text as XML."""

import re
from io import BytesIO
from zipfile import ZipFile

import docx as word
import pytest
from docx.document import Document as WordFile
from docx.text.paragraph import Paragraph
from lxml import etree

from replicalab.answers import Registration
from replicalab.characters import on_one_line
from replicalab.facts.blocks import Cell, Document, Listing, Part, Sentence, Table
from replicalab.facts.blocks import table as table_of
from replicalab.facts.report_facts import report
from replicalab.features.office import docx
from replicalab.render.markdown import markdown
from tests.hostile import ATTACK, UNSEEN, marks
from tests.reports.making import DAY, strangers, texts_of, work
from tests.tiers import one_in


def opened(document: Document, paper: str = "A4") -> WordFile:
    return word.Document(BytesIO(docx(document, "letter" if paper == "letter" else "A4")))


def parts_of(data: bytes) -> dict[str, bytes]:
    with ZipFile(BytesIO(data)) as file:
        return {name: file.read(name) for name in file.namelist()}


def small(*blocks: Sentence | Listing | Table, title: str = "A title") -> Document:
    return Document(title, "About", (Part("A part", blocks),), ("Foot.",), DAY)


def texts_in(file: WordFile) -> list[str]:
    texts = []
    for part in file.iter_inner_content():
        if isinstance(part, Paragraph):
            texts.append(part.text)
        else:
            texts += [cell.text for row in part.rows for cell in row.cells]
    return texts


@pytest.mark.parametrize("name", one_in(2, ["report", "brief"]))
def test_word_file_has_all_texts_in_order(name: str) -> None:
    shipped = work("fin_momentum", "medium"), work("psy_stroop", "hard")
    for result in (*strangers().values(), *shipped):
        document = result.brief() if name == "brief" else result.report()
        file = opened(document)
        texts = [re.sub(r" \(https://doi.org/.*\)$", "", text) for text in texts_in(file)]
        words = on_one_line(" ".join(texts_of(document))).split()
        assert "".join(texts).replace(" ", "") == "".join(words)
        titles = [
            paragraph.text
            for paragraph in file.paragraphs
            if paragraph.style and paragraph.style.name == "Heading 1"
        ]
        assert titles == [on_one_line(part.title) for part in document.parts if part.blocks]


def test_paper_size_is_the_one_asked_for() -> None:
    for paper, size in (("A4", (210, 297)), ("letter", (215.9, 279.4))):
        [section] = opened(small(Sentence("A text.")), paper).sections
        assert section.page_width is not None
        assert section.page_height is not None
        assert (section.page_width.mm, section.page_height.mm) == pytest.approx(size, abs=0.1)


def test_file_properties_have_title_authors_and_day() -> None:
    registration = Registration(title="Our <own> title", authors="A. Nobody & B. Else")
    file = opened(report(work("psy_stroop", "medium").options, on=DAY, answers=registration))
    about = file.core_properties
    assert (about.title, about.author) == ("Our <own> title", "A. Nobody & B. Else")
    assert about.created is not None
    assert about.created.date() == DAY
    heading = [paragraph.text for paragraph in file.paragraphs[:2]]
    assert heading == ["Our <own> title", "A. Nobody & B. Else"]
    of_nobody = opened(small(Sentence("A text."), title="t" * 400)).core_properties
    assert (of_nobody.author, of_nobody.comments) == ("", ""), "nor whose the template is"
    assert len(of_nobody.title) <= 255


def test_hostile_texts_stay_text() -> None:
    hostile = f"{ATTACK}{UNSEEN}\ud800\ufffe\x0b<w:p/>]]>&#0;"
    document = small(
        Sentence(hostile, lead=hostile),
        Listing((Sentence(hostile),)),
        table_of(hostile, (hostile,), ((Cell(hostile, note=hostile),),)),
        title=hostile,
    )
    for result in (document, strangers()["run"].report()):
        data = docx(result)
        for name, part in parts_of(data).items():
            if name.endswith((".xml", ".rels")):
                etree.fromstring(part)
        external = re.findall(
            rb'Target="([^"]+)" TargetMode="External"', b"".join(parts_of(data).values())
        )
        assert not [item for item in external if not item.startswith(b"https://doi.org/")]
    assert on_one_line(hostile) in [paragraph.text for paragraph in opened(document).paragraphs]
    text = " ".join(texts_in(opened(strangers()["run"].report())))
    assert marks(text) == marks(markdown(strangers()["run"].report()))


def test_word_file_is_the_same_bytes_each_time() -> None:
    document = work("psy_stroop", "hard").report()
    assert docx(document) == docx(document)
    with ZipFile(BytesIO(docx(document))) as file:
        assert {info.date_time[0] for info in file.infolist()} == {1980}
