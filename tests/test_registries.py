"""Tables that describe one kind of thing hold the same members."""

import re
from pathlib import Path
from typing import Final

from replicalab.agents.scientist_policy import FIELD_FORMS
from replicalab.assessment import DIMENSION_ROWS, FeasibilityCheckResult
from replicalab.designs import KINDS, PARAMETERS
from replicalab.documents import DOCUMENTS, FORMATS, KEPT, MIMES, SUFFIXES
from replicalab.library import ENTRY_KINDS as ENTRIES
from replicalab.library import EntryKind
from replicalab.models import DIMENSIONS, FIELD_LABELS, PROTOCOL_FIELDS, ScientistAction
from replicalab.places import TREE
from replicalab.scenarios import Design
from replicalab.scenarios.reading import FileKind
from replicalab.ui import state
from replicalab.ui.file_kinds import PAGE_ROWS
from replicalab.ui.frame import PAGES

UI: Final = Path(state.__file__).parent


def test_dimensions_match_rows_and_fields() -> None:
    assert tuple(DIMENSION_ROWS) == DIMENSIONS
    assert tuple(FeasibilityCheckResult.model_fields)[: len(DIMENSIONS)] == DIMENSIONS


def test_design_kinds_need_fields_of_design() -> None:
    assert {name for row in KINDS.values() for name in row.needs} <= PARAMETERS.keys()
    assert PARAMETERS.keys() <= Design.model_fields.keys()


def test_protocol_fields_have_labels_and_prompt_forms() -> None:
    assert tuple(FIELD_LABELS) == PROTOCOL_FIELDS
    assert set(PROTOCOL_FIELDS) <= ScientistAction.model_fields.keys() == FIELD_FORMS.keys()


def test_documents_and_entries_are_complete() -> None:
    assert FORMATS.keys() <= MIMES.keys()
    assert DOCUMENTS.keys() == PAGE_ROWS.keys() == {*FileKind}
    assert {row.suffix for row in DOCUMENTS.values()} <= {*SUFFIXES} & MIMES.keys()
    assert {*ENTRIES} == {*KEPT} == {*EntryKind}


def test_one_module_uploads_and_downloads() -> None:
    users = {
        path.relative_to(UI).as_posix()
        for path in UI.rglob("*.py")
        if re.search(r"st\.(file_uploader|download_button)\(", path.read_text(encoding="utf-8"))
    }
    assert users == {"file_transfer.py"}


def test_navigation_lists_every_page() -> None:
    files = sorted(f"pages/{file.name}" for file in (TREE / "pages").glob("*.py"))
    assert [file for file, *_ in PAGES] == ["app.py", *files]
