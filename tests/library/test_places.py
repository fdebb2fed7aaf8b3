"""Where the library is kept, by the environment."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest

from replicalab.errors import LibraryStorageError
from replicalab.library import (
    EntryKind,
    Library,
    data_folder,
    library_url,
)
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
    for name in ("ours", "~nobody-here/x"):
        assert data_folder({"REPLICALAB_DATA": name}) == Path.cwd() / name


@pytest.mark.parametrize(
    "url",
    ["nonsense", "sqlite://", "sqlite:///:memory:", "mysql://ann:word@host/x", "postgresql://host"],
)
def test_address_that_names_no_library_is_refused(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REPLICALAB_DATABASE_URL", url)
    with pytest.raises(
        LibraryStorageError, match=r"REPLICALAB_DATABASE_URL: .* is no address"
    ) as told:
        Library()
    assert "word" not in str(told.value).replace("password", "")


def test_folder_is_made_for_its_user_alone(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    Library(f"sqlite:///{folder / 'library.db'}").close()
    assert folder.stat().st_mode & 0o077 == 0


@pytest.fixture
def no_mask() -> Iterator[None]:
    before = os.umask(0o000)
    yield
    os.umask(before)


@pytest.mark.usefixtures("no_mask")
@pytest.mark.parametrize("links", [[], ["there.db"], ["on/way.db", "../there.db"]])
def test_library_is_its_users_alone_wherever_it_lies(tmp_path: Path, links: list[str]) -> None:
    """A new one, behind a link that leads nowhere yet, and one from before."""
    tmp_path.chmod(0o755)
    (tmp_path / "on").mkdir()
    for link, target in zip(["library.db", *links], links, strict=False):
        (tmp_path / link).symlink_to(target)
    there = tmp_path / (["library.db", *links][-1].removeprefix("../"))
    sides = [Path(f"{there}{side}") for side in ("", "-wal", "-shm")]
    for _ in range(2):
        library, again = (Library(f"sqlite:///{tmp_path / 'library.db'}") for _ in range(2))
        library.keep(ANN, EntryKind.PLAN, "ours", make_plan())
        assert [each.stat().st_mode & 0o777 for each in sides] == [0o600] * 3
        assert again.notices == ()
        for each in sides:
            each.chmod(0o644)
        last = Library(f"sqlite:///{tmp_path / 'library.db'}")
        assert [each.stat().st_mode & 0o777 for each in sides] == [0o600] * 3
        for opened in (library, again, last):
            opened.close()
        there.chmod(0o644)
    assert (tmp_path / "library.db").is_symlink() == bool(links)


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


@pytest.mark.parametrize("name", ["what?", "%41", "100 %", "%3F?#", "a@b:c", "né", "\udcff"])
def test_library_lies_in_the_folder_that_is_named(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / name
    monkeypatch.delenv("REPLICALAB_DATABASE_URL", raising=False)
    monkeypatch.setenv("REPLICALAB_DATA", str(folder))
    Library().close()
    assert list(tmp_path.iterdir()) == [folder]
    assert sorted(file.name for file in folder.iterdir()) == ["library.db"]
