"""What docs/stability.md promises to keep is there."""

from __future__ import annotations

import re
from typing import Final

import yaml

import replicalab
from replicalab.cli.printing import SCHEMA
from replicalab.documents import DOCUMENTS
from replicalab.library import Decision, EntryKind, Option
from replicalab.library.contents import decision_text
from replicalab.library.opening import REVISIONS
from replicalab.reports import bundle
from replicalab.scenarios.json_file import FileKind
from replicalab.views.documents import FORMAT
from tests.browser.driving import ROOT
from tests.library.making import CONTENTS
from tests.reports.making import work

TEXT: Final = (ROOT / "docs" / "stability.md").read_text(encoding="utf-8")
ROWS: Final = dict(re.findall(r"^\| `?(?:--)?([^|`]+)`? \| ([0-9]+|–) \| ", TEXT, re.MULTILINE))


def named(start: str) -> list[str]:
    """Return the names in the paragraph that begins so."""
    [paragraph] = [part for part in TEXT.split("\n\n") if part.startswith(start)]
    return re.findall(r"`(\w+)`", paragraph)


def test_every_file_is_written_in_the_format_that_is_promised() -> None:
    option = Option(name="Ours", kind=EntryKind.PLAN, content=CONTENTS[EntryKind.PLAN])
    contents = CONTENTS | {EntryKind.DECISION: decision_text(Decision(options=(option,), chosen=0))}
    texts = {kind: contents[row.kept_as] for kind, row in DOCUMENTS.items() if row.kept_as}
    found = work("psy_stroop", "hard")
    texts[FileKind.BUNDLE] = bundle(found.options, found.written)
    written = {kind.value: str(yaml.safe_load(text)["format"]) for kind, text in texts.items()}
    others = {"document": str(FORMAT), "library": REVISIONS[-1], "json": str(SCHEMA)}
    assert written | others | {FileKind.PLAN.value: "–"} == ROWS


def test_names_are_those_that_are_promised() -> None:
    assert named("Names:") == replicalab.__all__


def test_variables_that_are_promised_are_read() -> None:
    code = "".join(path.read_text("utf-8") for path in (ROOT / "replicalab").rglob("*.py"))
    promised = set(named("Variables:"))
    assert len(promised) >= 10
    assert promised <= {*re.findall(r"\bREPLICALAB_[A-Z_]+\b", code)}


def test_changelog_begins_with_this_version_and_its_day() -> None:
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    released = re.findall(r"^## \[(\d+\.\d+\.\d+)\] - \d{4}-\d\d-\d\d$", changes, re.MULTILINE)
    assert released[0] == replicalab.__version__
