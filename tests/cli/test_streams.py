"""``-``: standard input where a file is read, standard output where one is written."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Final

import pytest

from replicalab.cli.files import MOST_BYTES
from replicalab.documents import FORMS
from replicalab.scenarios import LabOverrides, lab_json, study_text
from tests.cli.asking import Asking, started

STUDY: Final = "psy_stroop"
Given = Callable[[bytes | str], None]


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> Given:
    """Return what puts bytes on standard input."""

    def give(data: bytes | str) -> None:
        held = data.encode() if isinstance(data, str) else data
        monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(held), encoding="ascii"))

    return give


def test_every_file_is_read_from_standard_input(ask: Asking, given: Given) -> None:
    ask(f"plan {STUDY} --save plan.json")
    ask(f"negotiate {STUDY} --save talk.json")
    Path("study.yaml").write_text(study_text(STUDY), encoding="utf-8")
    Path("lab.json").write_text(lab_json(LabOverrides(budget=5)))
    Path("items.csv").write_text("name,kind,state\nvoice-key booth,equipment,available\n")
    for line, file in (
        (f"check {STUDY} --plan {{}}", "plan.json"),
        (f"check {STUDY} --plan {{}}", "talk.json"),
        (f"compare {STUDY} --lab easy --lab hard --plan study --plan {{}}", "plan.json"),
        (f"check {STUDY} --lab {{}}", "lab.json"),
        (f"check {STUDY} --lab {{}}", "items.csv"),
        ("check {}", "study.yaml"),
        ("batch {} --lab hard --workers 1", "study.yaml"),
        ("negotiate --replay {}", "talk.json"),
    ):
        given(Path(file).read_bytes())
        streamed, named = ask(f"{line.format('-')} --json"), ask(f"{line.format(file)} --json")
        assert streamed.code == named.code, line
        assert streamed.out.replace("standard input", "plan") == named.out, line


def test_what_is_wrong_with_standard_input_is_told(
    ask: Asking, given: Given, monkeypatch: pytest.MonkeyPatch
) -> None:
    for data, told in (
        (b"", "standard input: the file is empty; load a plan that was saved here"),
        (b"\xff\xfe", "standard input: "),
        ("[1, 2]", "standard input: the file holds no plan; load a plan that was saved here"),
        (b" " * (MOST_BYTES + 1), "'standard input' has more than 6,291,456 bytes"),
    ):
        given(data)
        said = ask(f"check {STUDY} --plan -")
        assert (said.code, said.out) == (2, "")
        assert said.err.startswith(told)
    monkeypatch.setattr(sys, "stdin", None)
    said = ask(f"check {STUDY} --plan -")
    assert said.code == 2
    assert said.err == (
        "'standard input' cannot be read (it is closed); name a file that exists and may be read\n"
    )


def test_every_file_is_written_to_standard_output_alone(ask: Asking) -> None:
    forms = [f"report {STUDY} --date 2026-01-31 --form {form}" for form in (*FORMS, "json")]
    for line, option in (
        (f"plan {STUDY}", "--save"),
        (f"negotiate {STUDY}", "--save"),
        (f"batch {STUDY} --lab hard --workers 1", "--csv"),
        *((line, "--save") for line in forms if not {"xlsx", "pdf", "docx"} & {*line.split()}),
    ):
        streamed, named = ask(f"{line} {option} -"), ask(f"{line} {option} file")
        assert (streamed.code, streamed.err) == (named.code, named.err)
        assert streamed.out == Path("file").read_bytes().decode(), line
    assert not Path("-").exists()


def test_report_on_standard_output_is_markdown_where_no_form_is_named(ask: Asking) -> None:
    assert ask(f"report {STUDY} --date 2026-01-31 --save -").out.startswith("# Studies of")


def test_commands_are_joined_by_a_pipe() -> None:
    saved = started(f"plan {STUDY} --save -")
    checked = started(f"check {STUDY} --plan - --json", stdin=saved.stdout)
    told, faults = checked.communicate(timeout=60)
    saved.communicate()
    assert (saved.returncode, checked.returncode, faults) == (0, 0, "")
    assert json.loads(told)["plan"]["sample_size"] == 15


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (f"plan {STUDY} --save - --json", "--save -: the file and the answer as JSON would stand"),
        (f"batch {STUDY} --csv - --json", "--csv -: the file and the answer as JSON would stand"),
        (
            f"report {STUDY} --paper letter",
            "--paper letter: .md has no pages; end the file's name in",
        ),
        (f"report {STUDY} --form pdf", "--form pdf: no file is named; name one with --save, or -"),
        (
            f"report {STUDY} --form doc --save -",
            "'doc' is unknown; did you mean 'docx'?",
        ),
    ],
)
def test_stream_that_cannot_be_is_refused(ask: Asking, line: str, told: str) -> None:
    said = ask(line)
    assert (said.code, said.out) == (2, "")
    assert told in said.err


def test_reader_of_a_file_that_goes_away_ends_it_in_silence() -> None:
    with started(f"negotiate {STUDY} --save -") as process:
        assert process.stdout
        assert process.stderr
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 141
