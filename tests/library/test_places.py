"""Where the library is kept, by the environment."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from replicalab.errors import LibraryStorageError
from replicalab.library import (
    DELETED_DAYS,
    DRAFT_DAYS,
    EntryKind,
    Library,
    LibraryLimits,
    data_folder,
    library_url,
)
from replicalab.library.faults import WAIT_SECONDS
from replicalab.places import DATA_VARIABLE, URL_VARIABLE
from replicalab.server.visitor import value_of
from tests.library.making import ANN, make_plan

ROOT: Final = Path(__file__).resolve().parents[2]


def test_library_is_kept_in_the_users_data_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", "/home/ann/.data")
    assert data_folder({}).name == "replicalab"
    assert library_url({}) == f"sqlite:///{data_folder({}) / 'library.db'}"


def test_environment_names_another_folder_or_another_database() -> None:
    named = {"REPLICALAB_DATA": " /srv/ours "}
    assert data_folder(named) == Path("/srv/ours")
    assert library_url(named) == "sqlite:////srv/ours/library.db"
    named["REPLICALAB_DATABASE_URL"] = "postgresql://ann@host/ours"
    assert library_url(named) == "postgresql://ann@host/ours"
    assert data_folder({"REPLICALAB_DATA": "~/ours"}) == Path.home() / "ours"
    assert data_folder({"REPLICALAB_DATA": "ours"}) == Path.cwd() / "ours"


@pytest.mark.parametrize(
    "url",
    [
        "",
        "ours",
        "sqlite://",
        "sqlite:///:memory:",
        "mysql://ann:word@host/ours",
        "postgresql://host",
    ],
)
def test_address_that_names_no_library_is_refused(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REPLICALAB_DATABASE_URL", url or "nonsense")
    with pytest.raises(
        LibraryStorageError, match=r"REPLICALAB_DATABASE_URL: .* is no address"
    ) as told:
        Library()
    assert "word" not in str(told.value).replace("password", "")


def test_folder_is_made_for_its_user_alone(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    Library(f"sqlite:///{folder / 'library.db'}").close()
    assert folder.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("side", ["", "-wal", "-shm"])
def test_library_is_its_users_alone_wherever_it_lies(tmp_path: Path, side: str) -> None:
    file = tmp_path / "library.db"
    tmp_path.chmod(0o755)
    before = os.umask(0o000)
    try:
        library = Library(f"sqlite:///{file}")
        library.keep(ANN, EntryKind.PLAN, "ours", make_plan())
        assert Path(f"{file}{side}").stat().st_mode & 0o777 == 0o600
        library.close()
    finally:
        os.umask(before)


def test_library_from_before_becomes_its_users_alone(tmp_path: Path) -> None:
    file = tmp_path / "library.db"
    library = Library(f"sqlite:///{file}")
    library.keep(ANN, EntryKind.PLAN, "ours", make_plan())
    sides = [Path(f"{file}{side}") for side in ("", "-wal", "-shm")]
    for each in sides:
        each.chmod(0o644)
    again = Library(f"sqlite:///{file}")
    assert [each.stat().st_mode & 0o777 for each in sides] == [0o600] * 3
    assert again.notices == ()
    library.close()
    again.close()


@pytest.mark.parametrize("side", ["", "-wal", "-shm"])
@pytest.mark.parametrize("links", [["there.db"], ["on/way.db", "../there.db"]])
def test_library_behind_a_link_is_its_users_alone(
    tmp_path: Path, links: list[str], side: str
) -> None:
    (tmp_path / "on").mkdir()
    for link, target in zip(["library.db", *links], links, strict=False):
        (tmp_path / link).symlink_to(target)
    there = Path(f"{tmp_path / 'there.db'}{side}")
    before = os.umask(0o000)
    try:
        for _ in range(2):  # a link that leads nowhere yet, and then one to a library from before
            library = Library(f"sqlite:///{tmp_path / 'library.db'}")
            library.keep(ANN, EntryKind.PLAN, "ours", make_plan())
            assert there.stat().st_mode & 0o777 == 0o600
            there.chmod(0o644)
            again = Library(f"sqlite:///{tmp_path / 'library.db'}")
            assert there.stat().st_mode & 0o777 == 0o600
            again.close()
            library.close()
    finally:
        os.umask(before)
    assert (tmp_path / "library.db").is_symlink()


def test_links_that_lead_to_each_other_are_told(tmp_path: Path) -> None:
    (tmp_path / "library.db").symlink_to("other.db")
    (tmp_path / "other.db").symlink_to("library.db")
    with pytest.raises(LibraryStorageError, match="cannot be written"):
        Library(f"sqlite:///{tmp_path / 'library.db'}")


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo])
def test_what_is_no_file_keeps_its_rights(tmp_path: Path, make: Callable[[Path], None]) -> None:
    place = tmp_path / "library.db"
    make(place)
    place.chmod(0o755)
    with pytest.raises(LibraryStorageError):
        Library(f"sqlite:///{place}")
    assert place.stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize("name", ["what?", "a#b", "%41", "100 %", "%3F?#", "a@b:c", "né", "\udcff"])
def test_library_and_key_lie_in_the_folder_that_is_named(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / name
    monkeypatch.delenv("REPLICALAB_DATABASE_URL", raising=False)
    monkeypatch.setenv("REPLICALAB_DATA", str(folder))
    Library().close()
    value_of("any")
    assert list(tmp_path.iterdir()) == [folder]
    assert sorted(file.name for file in folder.iterdir()) == ["library.db", "visitors.key"]


def test_home_of_somebody_unknown_is_a_folder_of_that_name() -> None:
    assert data_folder({"REPLICALAB_DATA": "~nobody-here/x"}) == Path.cwd() / "~nobody-here/x"


def test_document_tells_the_bounds_and_the_settings_that_hold() -> None:
    document = " ".join((ROOT / "docs" / "library.md").read_text().split())
    limits = LibraryLimits()
    for told in (
        f"{DATA_VARIABLE}=",
        f"{URL_VARIABLE}=postgresql://",
        f"waits {WAIT_SECONDS:g} seconds",
        f"at most {limits.entries:,} entries and {limits.owner_bytes // 2**20} MiB",
        f"all together {limits.all_bytes // 2**30} GiB",
        f"one content {limits.content_bytes // 2**20} MiB",
        f"brought back for {DELETED_DAYS} days",
        f"the last {limits.drafts} are kept, each for {DRAFT_DAYS} days",
    ):
        assert told in document, told
