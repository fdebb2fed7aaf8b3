"""A research object crate: complete, described file by file, the same bytes, and it opens again."""

from __future__ import annotations

import io
import json
import zipfile
from datetime import date
from pathlib import Path
from typing import Any, Final

import pytest
from rocrate.rocrate import ROCrate

from replicalab.crates import crate
from replicalab.documents import CRATED_BUNDLE, MIMES, MOST_BYTES, detect_kind
from replicalab.errors import PrintError, ScenarioError
from replicalab.registration import PROFILES, Registration
from replicalab.render.pictures import picture_svg
from replicalab.reports import bundle, csv_tables, of_run, open_bundle, report
from replicalab.scenarios.json_file import FileKind
from tests.reports.making import DAY, Work, decided, strangers, work

SAID: Final = Registration(
    title="Stroop, once more",
    authors="Lovelace, Ada; Grace Hopper ;",
    licence="https://creativecommons.org/licenses/by/4.0/",
    texts={"importance": "Much is built on it."},
)
DOCUMENTS: Final = {"brief", "funding", "report", "registration"}
PDF: Final = b"%PDF-1.7 of a test"


def made(found: Work, said: Registration | None = None, on: date = DAY, **how: Any) -> bytes:
    return crate(found.options, found.written, on=on, run=found.run, said=said, **how)


def held(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def described(data: bytes, folder: Path) -> ROCrate:
    """Return a crate as the reference implementation reads it from a folder."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        archive.extractall(folder)
    return ROCrate(folder)


def zipped(*files: tuple[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files:
            archive.writestr(name, data)
    return packed.getvalue()


def test_crate_describes_every_file_that_it_holds(tmp_path: Path) -> None:
    found = work("psy_stroop", "medium")
    data = made(found, SAID, printer=lambda documents, _: [PDF] * len(documents))
    files, read = held(data), described(data, tmp_path)
    entities = {each.id: each for each in read.data_entities}
    assert entities.keys() == files.keys() - {"ro-crate-metadata.json"}
    for path, file in entities.items():
        assert file["name"]
        assert file["encodingFormat"] == MIMES[path.rpartition(".")[2]]
        assert file["contentSize"] == str(len(files[path]))
    for document in DOCUMENTS:
        for form in ("html", "md", "docx", "pdf"):
            file = entities[f"{document}.{form}"]
            assert file["dateCreated"] == "2026-11-22"
            assert [each["name"] for each in file["author"]] == ["Lovelace, Ada", "Grace Hopper"]
    assert files["brief.pdf"] == PDF
    tables = [data.decode() for path, data in files.items() if path.startswith("tables/")]
    shown = of_run(found.options, found.run)
    whole = report(shown, on=DAY, written=found.written, run=found.run, said=SAID)
    assert tables == list(csv_tables(whole).values())
    figures = [data.decode() for path, data in files.items() if path.startswith("figures/")]
    assert figures == [picture_svg(each) for each in whole.pictures]
    assert figures
    root = read.root_dataset
    assert (root["name"], root["datePublished"]) == ("Stroop, once more", "2026-11-22")
    assert root["license"].id == SAID.licence
    assert root["citation"].id.startswith("https://doi.org/")
    assert json.loads(files["registration.json"])["importance"] == "Much is built on it."


def test_crate_says_nothing_that_nobody_said(tmp_path: Path) -> None:
    read = described(made(work("psy_stroop", "medium")), tmp_path)
    assert "author" not in read.root_dataset
    assert read.root_dataset["license"].startswith("Not given")
    dated = {each.id for each in read.data_entities if "dateCreated" in each}
    assert {name.rpartition(".")[0] for name in dated} == DOCUMENTS
    assert not any("author" in each for each in read.data_entities)
    assert not any(each.id.endswith(".pdf") for each in read.data_entities)


def test_crate_of_the_same_content_is_the_same_bytes() -> None:
    found = work("bio_jq1_myeloma", "hard")
    first = made(found, SAID)
    assert first == made(found, SAID)
    assert first != made(found, SAID, date(1, 1, 1))


@pytest.mark.parametrize("which", ["study", "run"])
def test_crate_of_hostile_texts_opens_as_its_bundle(which: str, tmp_path: Path) -> None:
    found = strangers()[which]
    said = Registration(title="<b>../../x", authors=";;", licence="javascript:alert(1)")
    data = made(found, said, profile=PROFILES["funder"])
    for path in held(data):
        assert not path.startswith(("/", "."))
        assert path.isascii()
    assert described(data, tmp_path).root_dataset["license"]["name"] == said.licence
    opened = detect_kind(data, "whatever.json")
    assert opened.kind is FileKind.BUNDLE
    assert opened.text == bundle(found.options, found.written, found.run)
    assert open_bundle(opened.values).differences == ()


def test_crate_opens_with_negotiation_and_decision_also_packed_again_in_a_folder() -> None:
    found = work("fin_momentum", "medium")
    decision = decided(found, 0, why="It fits.", who="Ada")
    inside = held(made(found, decision=decision))[CRATED_BUNDLE]
    opened = detect_kind(zipped(("crate/bundle.json", inside), ("crate/x", b"")), "x.zip")
    read = open_bundle(opened.values)
    assert (read.differences, read.decision) == ((), decision)
    assert read.run is not None
    assert found.run is not None
    assert read.run.outcome == found.run.outcome


@pytest.mark.parametrize(
    ("inside", "problem"),
    [
        ((), "the ZIP file holds no bundle.json"),
        ((("brief.md", b"x"),), "the ZIP file holds no bundle.json"),
        ((("a/bundle.json", b"{}"), ("b/bundle.json", b"{}")), "holds 2 bundle.json"),
        ((("bundle.json", b"\xff\xfe\x00"),), ""),
        ((("bundle.json", b"{}"),), "the file holds no bundle"),
        ((("bundle.json", b" " * (MOST_BYTES + 1)),), ""),
    ],
    ids=["empty", "none", "two", "no-text", "no-bundle", "large"],
)
def test_zip_file_that_is_no_crate_is_refused_by_name(
    inside: tuple[tuple[str, bytes], ...], problem: str
) -> None:
    with pytest.raises(ScenarioError, match=r"^x\.zip") as refused:
        detect_kind(zipped(*inside), "x.zip")
    assert problem in str(refused.value)


def test_crate_that_may_ask_for_any_memory_is_refused_by_name() -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("bundle.json", b"{}")
    with pytest.raises(ScenarioError, match=r"^x\.zip: the ZIP file cannot be unpacked"):
        detect_kind(packed.getvalue(), "x.zip")


@pytest.mark.parametrize("kept", [10, 40, -30])
def test_crate_that_is_cut_short_is_refused_by_name(kept: int) -> None:
    with pytest.raises(ScenarioError, match=r"^x\.zip: the ZIP file cannot be unpacked"):
        detect_kind(zipped(("bundle.json", b"{}"))[:kept], "x.zip")


def test_printer_that_fails_makes_no_crate() -> None:
    def fail(_: object, __: object) -> list[bytes]:
        raise PrintError("no PDF: others are being made")

    with pytest.raises(PrintError, match="others"):
        made(work("psy_stroop", "easy"), printer=fail)
