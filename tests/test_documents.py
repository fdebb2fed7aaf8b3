"""What the documents tell people to type, open, press and read is there."""

from __future__ import annotations

import json
import re
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import parse_qsl, urlsplit

import pytest
from PIL import Image

from replicalab.models import LARGEST_PLANNED, LONGEST_LABEL, LONGEST_TEXT
from replicalab.scenarios import (
    FOLDER_VARIABLE,
    Bounds,
    CostModel,
    Design,
    Difficulty,
    Lab,
    StaffModel,
    Study,
    parse_study,
    template_text,
)
from replicalab.scenarios.fields import (
    LONGEST_SHORT_TITLE,
    LONGEST_TITLE,
    MOST_FACTS,
    MOST_ITEMS,
    MOST_PHRASES,
    MOST_SUBSTITUTIONS,
)
from replicalab.scenarios.reading import MAX_BYTES, MOST_VALUES, Data, read_document
from tests.browser import tour
from tests.ui.pages import PAGES, SCENARIOS
from tests.ui.reading import alerts, said
from tests.ui.walking import visit

ROOT: Final = Path(__file__).resolve().parents[1]


def text_of(document: str) -> str:
    return (ROOT / document).read_text(encoding="utf-8")


README: Final = text_of("README.md")
GUIDES: Final = (
    *("docs/authoring.md", "docs/questions.md", "docs/serving.md", "docs/stability.md"),
    "docs/accessibility.md",
)
DOCUMENTS: Final = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", *GUIDES)
MADE_ON_USE: Final = (".venv", "test-artifacts")
"""Folders that a command makes, so a fresh clone does not hold them."""


def commands(document: str) -> list[str]:
    """Return the lines of a document's console blocks."""
    blocks = re.findall(r"```console\n(.*?)```", text_of(document), re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_commands_are_targets_and_named_files_exist(document: str) -> None:
    text = text_of(document)
    targets = set(re.findall(r"^([a-z-]+):.*##", text_of("Makefile"), re.MULTILINE))
    assert set(re.findall(r"(?:^|`)make ([a-z-]+)", text, re.MULTILINE)) <= targets
    spans = re.findall(r"(?<!`)`([^`\n]+)`(?!`)", text) + re.findall(r"\]\(([^)]+)\)", text)
    path = re.compile(r"\.?[\w-]+(/[\w.-]+)*(/|\.(py|md|toml|txt|yaml|png))|\.ci/run|LICENSE")
    named = {span for span in spans if path.fullmatch(span) and not span.startswith(MADE_ON_USE)}
    words = {word for line in commands(document) for word in line.split()}
    named |= {word for word in words if re.fullmatch(r"[\w-]+\.(py|txt)", word)}
    folders = (ROOT, (ROOT / document).parent)
    assert sorted(n for n in named if not any((each / n).exists() for each in folders)) == []


def test_readme_gives_the_two_commands_and_their_plain_forms() -> None:
    plain = {".venv/bin/streamlit run app.py", ".venv/bin/pytest"}
    assert {"make run", "make test", *plain} <= set(commands("README.md"))


def test_readme_names_every_page_and_shows_a_picture_that_exists() -> None:
    titles = [re.sub(r"^\d+_", "", page.stem) for page in (ROOT / "pages").glob("*.py")]
    assert [t for t in titles if f"**{t.replace('_', ' ')}" not in README] == []
    pictures = re.findall(r"!\[(.+?)\]\((.+?)\)", README)
    assert pictures
    for alternative_text, path in pictures:
        assert alternative_text.strip()
        assert (ROOT / path).read_bytes().startswith(b"\x89PNG")


def test_tour_is_as_its_script_writes_it_with_small_pictures() -> None:
    assert text_of("docs/tour.md") == tour.guide()
    pictures = {path.stem: path for path in tour.PICTURES.glob("*")}
    assert sorted(pictures) == sorted(stop.name for stop in tour.STOPS)
    for path in pictures.values():
        with Image.open(path) as picture:
            assert (picture.format, picture.size) == ("PNG", (1280, 720))
        assert path.stat().st_size <= 100 * 1024


# --- docs/glossary.md -----------------------------------------------------------------------

ROWS: Final = re.findall(
    r"^\| (?!word|-)(.+?) \| (.+?) \| `(\w+)` \|$", text_of("docs/glossary.md"), re.MULTILINE
)
OF_THE_API: Final = {"Batch", "Lab", "Portfolio"}
"""What a script gets of the class of that name, with its view for a notebook."""


def test_glossary_has_at_most_forty_words_each_once_and_names_what_stands_in_the_code() -> None:
    words = [word for row in ROWS for word in row[0].split(", ")]
    assert 0 < len(ROWS) <= 40
    assert len(words) == len(set(words))
    code = "\n".join(path.read_text("utf-8") for path in (ROOT / "replicalab").rglob("*.py"))
    classes = re.findall(r"^ *class (\w+)", code, re.MULTILINE)
    functions = re.findall(r"^ *def (\w+)", code, re.MULTILINE)
    others = re.findall(r"^ *(\w+)(?:: | = )", code, re.MULTILINE)
    assert {name for *_, name in ROWS} <= {*classes, *functions, *others}
    public = Counter(name for name in classes if not name.startswith("_"))
    assert {name for name, many in public.items() if many > 1} <= OF_THE_API


# --- docs/architecture.md, "To add …" -----------------------------------------------------------


_PATH: Final = re.compile(r"[\w.<>/-]+(/|\.(py|md|in|txt|ya?ml|toml))")
_READ: Final = (".py", ".md", ".toml", ".yaml")
_NAME: Final = re.compile(r"[A-Za-z_][\w.]*")


def paragraphs() -> dict[str, list[str]]:
    """Return what stands between backticks in each paragraph, by what is added."""
    added = text_of("docs/architecture.md").split("## To add …\n")[1]
    opened = re.findall(r"^- \*\*(.+?)\*\*: (.*?)(?=^- \*\*|\Z)", added, re.MULTILINE | re.DOTALL)
    return {title: re.findall(r"`([^`]+)`", " ".join(body.split())) for title, body in opened}


PARAGRAPHS: Final = paragraphs()


def files_at(path: str) -> list[Path]:
    """Return the files that a path in the document names, from the root or from the package."""
    pattern = re.sub(r"<\w+>", "*", path.rstrip("/"))
    found = [each for base in (ROOT / "replicalab", ROOT) for each in base.glob(pattern)]
    return [file for each in found for file in ([each] if each.is_file() else each.rglob("*.*"))]


def test_document_says_where_each_kind_of_thing_is_added() -> None:
    asked = {
        *("a dimension", "a design kind", "a field of the protocol", "a page", "a sentence"),
        *("a command", "a form of a report", "a chart", "a kind of thing to keep"),
    }
    assert asked <= PARAGRAPHS.keys()


@pytest.mark.parametrize("title", PARAGRAPHS)
def test_files_and_names_of_a_paragraph_exist(title: str) -> None:
    quoted = PARAGRAPHS[title]
    paths = [each for each in quoted if _PATH.fullmatch(each)]
    assert [path for path in paths if not files_at(path)] == []
    code = "".join(
        file.read_text(encoding="utf-8")
        for path in paths
        for file in files_at(path)
        if file.suffix in _READ
    )
    for each in set(quoted) - set(paths):
        if each.startswith("make "):
            assert re.search(
                rf"^{each.removeprefix('make ')}:", text_of("Makefile"), re.MULTILINE
            ), each
        elif each.startswith("python -m "):
            assert find_spec(each.removeprefix("python -m ")), each
        else:
            assert _NAME.fullmatch(each), f"{each}: neither a file nor a name"
            assert re.search(rf"(?<!\w){re.escape(each.rpartition('.')[2])}(?!\w)", code), each


# --- docs/authoring.md --------------------------------------------------------------------------


GUIDE: Final = text_of("docs/authoring.md")


def section(title: str) -> str:
    """Return the text of a section of the guide."""
    return GUIDE.split(f"\n## {title}\n")[1].split("\n## ")[0]


def blocks(text: str) -> list[str]:
    """Return the YAML blocks of a text."""
    return re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)


def test_blocks_are_read_and_one_after_the_other_are_the_template() -> None:
    assert all(read_document(block, "docs/authoring.md").data for block in blocks(GUIDE))
    whole = parse_study("".join(blocks(section("Block by block"))), "docs/authoring.md")
    assert whole == parse_study(template_text(), "template.yaml")


@pytest.mark.parametrize("block", blocks(section("Variations")), ids=lambda b: b.split(":")[0])
def test_variation_fits_into_the_template(block: str) -> None:
    data: dict[str, Data] = read_document(template_text(), "template.yaml").data
    changes = read_document(block, "docs/authoring.md").data
    study = parse_study(json.dumps(data | changes), "varied")
    written = study.model_dump(mode="json", exclude_unset=True)
    assert {key: written[key] for key in changes} == changes


def test_guide_speaks_of_every_field_of_a_study() -> None:
    names = [*Study.model_fields, *Design.model_fields, *Lab.model_fields, *Difficulty]
    assert [name for name in names if f"{name}:" not in GUIDE] == []
    assert [bounds for bounds in Bounds if f"`{bounds}`" not in GUIDE] == []


def test_guide_gives_the_rates_that_hold() -> None:
    text = " ".join(section("Block by block").split())
    rates, steps = CostModel(), StaffModel()
    assert (
        f"A plan costs {rates.per_sample:g} credits a sample, {rates.per_day:g} a day, "
        f"{rates.per_control:g} a control, {rates.per_equipment_item:g} a piece of equipment and "
        f"{rates.per_reagent:g} a reagent"
    ) in text
    assert (
        f"above {steps.sample_threshold} samples, {steps.control_threshold} controls, "
        f"{steps.day_threshold} days and {steps.equipment_threshold} pieces of equipment"
    ) in text
    assert FOLDER_VARIABLE in section("In a folder")


def test_guide_gives_the_bounds_that_hold() -> None:
    text = " ".join(section("How large it may be").split())
    assert (
        f"at most {MAX_BYTES // 1024} KiB and {MOST_VALUES:,} values, the title "
        f"{LONGEST_TITLE} characters (the short one {LONGEST_SHORT_TITLE}), a label "
        f"{LONGEST_LABEL}, a text {LONGEST_TEXT:,}. A list has "
        f"at most {MOST_ITEMS} entries; the facts are at most {MOST_FACTS}, the substitutions "
        f"{MOST_SUBSTITUTIONS}, and the forbidden phrases of all restrictions together "
        f"{MOST_PHRASES}"
    ) in text
    assert f"at most {LARGEST_PLANNED:,} samples" in text


def test_what_the_guide_tells_people_to_press_is_on_the_page() -> None:
    sources = [ROOT / "app.py", *(ROOT / "replicalab" / "ui").rglob("*.py")]
    page = "\n".join(source.read_text(encoding="utf-8") for source in sources)
    named = re.findall(r"\*\*(.+?)\*\*", section("In the browser"))
    assert len(named) == 10
    assert [name for name in named if f'"{name}' not in page] == []


# --- docs/questions.md --------------------------------------------------------------------------


_LINK: Final = re.compile(r"\]\((http://localhost:8501/[^)]*)\)")


class Answer(NamedTuple):
    """A question, the address of its answer, and what is quoted from there."""

    question: str
    address: str
    quotes: list[str]


def answers() -> list[Answer]:
    """Return the questions whose answer has an address: those of shipped studies alone."""
    found = []
    for part in text_of("docs/questions.md").split("\n## ")[1:]:
        if not (addresses := _LINK.findall(part)):
            continue
        [address] = addresses
        told = " ".join(part.split(address)[1].split())
        found.append(Answer(part.partition("\n")[0], address, re.findall("“([^”]+)”", told)))
    return found


def test_document_answers_eight_questions_and_links_four() -> None:
    assert text_of("docs/questions.md").count("\n## ") == 8
    assert len(answers()) == 4
    assert all(len(answer.quotes) >= 1 for answer in answers())


@pytest.mark.parametrize("answer", answers(), ids=lambda answer: answer.question[:30])
def test_answer_opens_without_a_problem_and_says_what_is_quoted(answer: Answer) -> None:
    parts = urlsplit(answer.address)
    page = next((p for p in PAGES if p.endswith(f"_{parts.path[1:]}.py")), SCENARIOS)
    app = visit(page, **dict(parse_qsl(parts.query)))
    assert alerts(app) == []
    shown = " ".join(said(app).split()).replace(" | ", " ")
    assert [quote for quote in answer.quotes if quote not in shown] == []
