"""The place of the library, by the environment."""

import os
from pathlib import Path

import pytest

from replicalab.errors import LibraryStorageError
from replicalab.library import EntryKind, Library, data_folder, library_url
from tests.library.making import ANN, make_plan


def test_environment_names_folder_or_database(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", "/home/ann/.data")
    assert data_folder({}).name == "replicalab"
    assert library_url({}) == f"sqlite:///{data_folder({}) / 'library-2.db'}"
    named = {"REPLICALAB_DATA": " /srv/ours "}
    assert data_folder(named) == Path("/srv/ours")
    assert library_url(named) == "sqlite:////srv/ours/library-2.db"
    named["REPLICALAB_DATABASE_URL"] = "postgresql://ann@host/ours"
    assert library_url(named) == "postgresql://ann@host/ours"
    assert data_folder({"REPLICALAB_DATA": "~/ours"}) == Path.home() / "ours"
    for name in ("ours", "~nobody-here/x"):
        assert data_folder({"REPLICALAB_DATA": name}) == Path.cwd() / name


@pytest.mark.parametrize(
    "url", ["nonsense", "sqlite://", "sqlite:///:memory:", "mysql://host/x", "postgresql://host"]
)
def test_invalid_address_is_refused(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REPLICALAB_DATABASE_URL", url)
    with pytest.raises(LibraryStorageError, match=r"REPLICALAB_DATABASE_URL: .* is no address"):
        Library()


def test_new_library_is_readable_by_its_user_alone(tmp_path: Path) -> None:
    folder, before = tmp_path / "a" / "b", os.umask(0)
    try:
        library = Library(f"sqlite:///{folder / 'library-2.db'}")
        library.keep(ANN, EntryKind.PLAN, "ours", make_plan())
    finally:
        os.umask(before)
    assert folder.stat().st_mode & 0o077 == 0
    assert [file.stat().st_mode & 0o777 for file in folder.iterdir()] == [0o600] * 3
    library.close()


@pytest.mark.parametrize("name", ["what?", "%41", "100 %", "%3F?#", "a@b:c", "né", "\udcff"])
def test_library_is_in_the_named_folder(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / name
    monkeypatch.delenv("REPLICALAB_DATABASE_URL", raising=False)
    monkeypatch.setenv("REPLICALAB_DATA", str(folder))
    Library().close()
    assert list(tmp_path.iterdir()) == [folder]
    assert sorted(file.name for file in folder.iterdir()) == ["library-2.db"]
