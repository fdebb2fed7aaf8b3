"""Folders of studies: the shipped one, one's own beside it, and what must not be read from them."""

from __future__ import annotations

import difflib
import os
import shutil
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Final, Literal, NoReturn

import pytest

from replicalab.errors import ScenarioError
from replicalab.scenarios import (
    FOLDER_VARIABLE,
    Difficulty,
    broken_scenarios,
    copy_text,
    generate_scenario,
    list_scenarios,
    load_scenario,
    loading,
    parse_study,
    scenario_folders,
    shelf,
    shelf_fingerprint,
    study_text,
    template_text,
)
from replicalab.scenarios.loading import SCENARIO_FOLDER
from replicalab.scenarios.reading import read_document
from tests.scenarios.tiny_study import STUDY_TEXT

FILES: Final = sorted(SCENARIO_FOLDER.glob("*/*.yaml"))
SHIPPED: Final = [path.stem for path in FILES]
AS_IT_SHOULD_BE: Final = "check that it is a readable file"


def named(scenario_id: str, domain_id: str = "demo") -> str:
    """Return the small study under another id and domain."""
    return STUDY_TEXT.replace("tiny", scenario_id, 1).replace("demo", domain_id, 1)


Own = Callable[..., Path]


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Own:
    """Write files, given by path, into the folder that the variable names; return the folder."""
    folder = tmp_path / "own"
    folder.mkdir()
    monkeypatch.setenv(FOLDER_VARIABLE, str(folder))

    def write(files: dict[str, str] | None = None) -> Path:
        for name, text in (files or {}).items():
            path = folder / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return folder

    return write


def own_ids() -> list[str]:
    """Return the ids that are listed beside the shipped ones, in the shelf's order."""
    return [one.scenario_id for one in list_scenarios() if one.scenario_id not in SHIPPED]


def faults() -> list[str]:
    """Return what is said about files and folders that cannot be used."""
    return [str(error) for error in broken_scenarios()]


def refusal(call: Callable[[], object]) -> str:
    """Return what is said about a study that there is not."""
    with pytest.raises(ScenarioError) as refused:
        call()
    return str(refused.value)


# --- The shipped folder ---


def test_shipped_folder_holds_the_twelve_studies_and_each_loads_in_its_three_labs() -> None:
    assert broken_scenarios() == []
    studies = list_scenarios()
    assert len(studies) == 12
    packs = [load_scenario(one.scenario_id, level) for one in studies for level in Difficulty]
    assert len({(pack.scenario_id, pack.difficulty) for pack in packs}) == 36


def test_shipped_studies_cover_the_eight_domains() -> None:
    domains = [one.domain_id for one in list_scenarios()]
    assert {domain: domains.count(domain) for domain in domains} == {
        "biology": 1,
        "chemistry": 1,
        "ecology": 1,
        "finance_trading": 2,
        "machine_learning": 2,
        "mathematics": 2,
        "physics": 1,
        "psychology": 2,
    }


# --- One's own folder ---


def test_own_studies_are_listed_and_loaded_beside_the_shipped_ones(own: Own) -> None:
    own({
        "flat.yaml": named("flat", "anything"),
        "demo/nested.yaml": named("nested"),
        "demo/short.yml": named("short"),
    })  # fmt: skip
    listed = list_scenarios()
    assert own_ids() == ["flat", "nested", "short"]
    assert len(listed) == len(SHIPPED) + 3
    assert [(one.domain_id, one.scenario_id) for one in listed] == sorted(
        (one.domain_id, one.scenario_id) for one in listed
    )
    assert broken_scenarios() == []
    for scenario_id in ("flat", "nested", "short", SHIPPED[0]):
        assert load_scenario(scenario_id, "hard", 3).scenario_id == scenario_id


def test_domain_of_ones_own_can_be_drawn_from(own: Own) -> None:
    own({"a.yaml": named("a"), "demo/b.yaml": named("b")})
    assert {generate_scenario(seed, "demo", "easy").scenario_id for seed in range(9)} == {"a", "b"}


def test_folder_is_read_as_the_variable_stands_now(
    own: Own, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = own({"flat.yaml": named("flat")})
    assert own_ids() == ["flat"]
    assert [each.path for each in scenario_folders()] == [SCENARIO_FOLDER, folder]
    monkeypatch.delenv(FOLDER_VARIABLE)
    assert own_ids() == []
    assert [each.path for each in scenario_folders()] == [SCENARIO_FOLDER]


def test_empty_variable_names_no_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FOLDER_VARIABLE, "")
    assert [each.path for each in scenario_folders()] == [SCENARIO_FOLDER]


def test_relative_folder_is_found_from_where_the_app_was_started(
    own: Own, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = own({"flat.yaml": named("flat")})
    monkeypatch.chdir(folder.parent)
    monkeypatch.setenv(FOLDER_VARIABLE, "own")
    assert own_ids() == ["flat"]


def test_shipped_folder_as_ones_own_is_read_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(SCENARIO_FOLDER)
    for name in (str(SCENARIO_FOLDER), str(tmp_path / "link")):
        monkeypatch.setenv(FOLDER_VARIABLE, name)
        assert len(list_scenarios()) == len(SHIPPED)
        assert broken_scenarios() == []


def test_missing_folder_is_one_fault_with_variable_value_and_remedy(
    own: Own, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = own({"a.yaml": named("a")}) / "a.yaml"
    for name, why in ((file.parent / "no", "No such file or directory"), (file, "Not a directory")):
        monkeypatch.setenv(FOLDER_VARIABLE, str(name))
        assert faults() == [
            f"REPLICALAB_SCENARIO_DIR: the folder '{name}' cannot be read ({why}); "
            "name a folder that exists and may be read, or unset it"
        ]
        assert len(list_scenarios()) == len(SHIPPED)
        assert load_scenario(SHIPPED[0]).scenario_id == SHIPPED[0]
        assert isinstance(shelf_fingerprint(), Hashable)


def test_flat_file_needs_its_ids_name_and_a_nested_one_its_domains_folder_too(own: Own) -> None:
    own({
        "other.yaml": named("flat", "anything"),
        "demo/My Study.yml": named("nested"),
        "Big Domain/big.yaml": named("big", "big_domain"),
        "demo/stray.yaml": named("stray", "wrong"),
    })  # fmt: skip
    assert faults() == [
        "own/other.yaml: line 2, scenario_id: 'flat' is not the file's name; "
        "write 'other', or move the file",
        "own/Big Domain/big.yaml: line 3, domain_id: 'big_domain' is not the folder's name; "
        "rename it to 'big_domain'",
        "own/demo/My Study.yml: line 2, scenario_id: 'nested' is not the file's name; "
        "rename it to 'nested'",
        "own/demo/stray.yaml: line 3, domain_id: 'wrong' is not the folder's name; "
        "write 'demo', or move the file",
    ]
    assert own_ids() == []


def test_id_that_is_shipped_is_a_fault_of_ones_own_file(own: Own) -> None:
    own({"fin_momentum.yaml": named("fin_momentum")})
    assert faults() == [
        "own/fin_momentum.yaml: scenario_id: 'fin_momentum' is already the id of "
        "scenarios/finance_trading/fin_momentum.yaml; choose another id"
    ]
    assert load_scenario("fin_momentum").domain_id == "finance_trading"


def test_id_that_two_of_ones_own_files_have_is_a_fault_of_the_second(own: Own) -> None:
    own({"two.yaml": named("two"), "two.yml": named("two"), "demo/two.yaml": named("two")})
    assert own_ids() == ["two"]
    assert faults() == [
        f"own/{name}: scenario_id: 'two' is already the id of own/two.yaml; choose another id"
        for name in ("two.yml", "demo/two.yaml")
    ]


def test_flat_files_in_the_shipped_folder_are_no_studies(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    shutil.copytree(SCENARIO_FOLDER, tmp_path / "scenarios")
    monkeypatch.setattr(loading, "SCENARIO_FOLDER", tmp_path / "scenarios")
    (tmp_path / "scenarios" / "flat.yaml").write_text(named("flat"))
    assert own_ids() == []
    assert faults() == []
    assert "'flat' is unknown" in refusal(lambda: load_scenario("flat"))


def test_many_broken_files_leave_the_others_listed(own: Own) -> None:
    good = {f"good_{n}.yaml": named(f"good_{n}") for n in range(30)}
    bad = {f"bad_{n}.yaml": named(f"bad_{n}").replace("format: 1", "format: 2") for n in range(30)}
    own(good | bad)
    assert own_ids() == sorted(f"good_{n}" for n in range(30))
    assert len(faults()) == 30
    assert all("line 1, format: 2 is not allowed" in fault for fault in faults())
    assert "format: 2 is not allowed" in refusal(lambda: load_scenario("bad_7"))


# --- What must not be read ---


def test_link_that_leaves_the_folder_is_a_fault_and_one_within_it_is_not(own: Own) -> None:
    folder = own({"real.yaml": named("linked"), "demo/x.yaml": named("x")})
    outside = folder.parent / "outside"
    outside.mkdir()
    (outside / "away.yaml").write_text(named("away"))
    (outside / "deep.yaml").write_text(named("deep", "afar"))
    (folder / "away.yaml").symlink_to(outside / "away.yaml")
    (folder / "afar").symlink_to(outside)
    (folder / "linked.yaml").symlink_to(folder / "real.yaml")
    (folder / "same").symlink_to(folder / "demo")
    (folder / "loop.yaml").symlink_to(folder / "loop.yaml")
    leaves = f"the file cannot be read (it is a link that leaves the folder); {AS_IT_SHOULD_BE}"
    assert own_ids() == ["linked", "x"]
    assert faults() == [
        f"own/away.yaml: {leaves}",
        "own/loop.yaml: the file cannot be read (Too many levels of symbolic links); "
        f"{AS_IT_SHOULD_BE}",
        "own/real.yaml: line 2, scenario_id: 'linked' is not the file's name; "
        "write 'real', or move the file",
        f"own/afar/away.yaml: {leaves}",
        f"own/afar/deep.yaml: {leaves}",
        "own/same/x.yaml: line 3, domain_id: 'demo' is not the folder's name; "
        "write 'same', or move the file",
    ]
    assert "leaves the folder" in refusal(lambda: load_scenario("away"))
    assert "leaves the folder" in refusal(lambda: study_text("deep"))


def test_what_is_no_regular_file_is_a_fault_and_never_opened(own: Own) -> None:
    folder = own()
    (folder / "folder.yaml").mkdir()
    (folder / "folder.yaml" / "inner.yaml").write_text(named("inner"))
    os.mkfifo(folder / "pipe.yaml")  # opening one would wait for ever
    assert faults() == [
        f"own/folder.yaml: the file cannot be read (it is a folder); {AS_IT_SHOULD_BE}",
        f"own/pipe.yaml: the file cannot be read (it is not a regular file); {AS_IT_SHOULD_BE}",
    ]
    assert "it is a folder" in refusal(lambda: load_scenario("folder"))
    assert "not a regular file" in refusal(lambda: load_scenario("pipe"))


def test_file_that_may_not_be_read_is_a_fault(own: Own, monkeypatch: pytest.MonkeyPatch) -> None:
    own({"secret.yaml": named("secret"), "fine.yaml": named("fine")})
    opening = Path.open

    def refuse(path: Path, mode: Literal["rb"]) -> object:
        if path.name == "secret.yaml":
            raise PermissionError(13, "Permission denied")
        return opening(path, mode)

    monkeypatch.setattr(Path, "open", refuse)
    assert own_ids() == ["fine"]
    assert faults() == [
        f"own/secret.yaml: the file cannot be read (Permission denied); {AS_IT_SHOULD_BE}"
    ]


def test_folder_within_that_may_not_be_listed_is_a_fault(
    own: Own, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = own({"closed/a.yaml": named("a", "closed"), "fine.yaml": named("fine")})
    listing = os.scandir

    def refuse(path: Path) -> object:
        if path == folder / "closed":
            raise PermissionError(13, "Permission denied")
        return listing(path)

    monkeypatch.setattr(os, "scandir", refuse)
    assert own_ids() == ["fine"]
    assert faults() == [
        f"own/closed: the file cannot be read (its files cannot be listed); {AS_IT_SHOULD_BE}"
    ]


def test_large_file_is_refused_unread(own: Own, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = own({"vast.yaml": named("vast"), "huge.yaml": named("huge")})
    os.truncate(
        folder / "vast.yaml", 5 * 1024**3
    )  # sparse: it takes no room, but would take long to read
    os.truncate(folder / "huge.yaml", 5 * 1024**2)
    monkeypatch.setattr(shelf, "read_document", _never)
    assert faults() == [
        f"own/{name}.yaml: the file has {size} bytes, more than the 262144 allowed; shorten it"
        for name, size in (("huge", 5 * 1024**2), ("vast", 5 * 1024**3))
    ]
    assert "more than the 262144" in refusal(lambda: load_scenario("vast"))


def _never(*_: object) -> NoReturn:
    raise AssertionError("this file must not be read")


def test_hidden_files_and_files_of_other_kinds_are_passed_over(own: Own) -> None:
    own({
        ".hidden.yaml": "x",
        "._shadow.yaml": "x",
        ".git/config.yaml": "x",
        "notes.txt": "x",
        "study.schema.json": "{}",
        "demo/deeper.yaml.bak": "x",
        "SHOUTED.YAML": named("shouted"),
    })  # fmt: skip
    assert own_ids() == []
    assert faults() == [
        "own/SHOUTED.YAML: line 2, scenario_id: 'shouted' is not the file's name; "
        "rename it to 'shouted'"
    ]


def test_name_that_no_page_can_show_is_replaced_in_messages(own: Own) -> None:
    folder = own()
    for name in (b"half\xff.yaml", b"line\nbreak\x1b.yaml"):
        Path(os.fsdecode(os.fsencode(folder) + b"/" + name)).write_text("x")
    assert [error.source for error in broken_scenarios()] == [
        "own/half\ufffd.yaml",
        "own/line\ufffdbreak\ufffd.yaml",
    ]


@pytest.mark.parametrize(
    "trick",
    [
        "../fin_momentum", "finance_trading/fin_momentum", "/etc/passwd", "fin_momentum.yaml",
        "fin_momentum\n", "fin_momentum\x00", "Fin_momentum", " fin_momentum", "", ".", "..", "*",
        "template", "a" * 65, "\ud800",
    ],
)  # fmt: skip
def test_path_trick_in_an_id_is_an_unknown_id(trick: str) -> None:
    for call in (load_scenario, study_text):
        said = refusal(lambda: call(trick))  # noqa: B023
        assert f"scenario_id: {repr(trick)[:59]}" in said
        assert " is unknown; " in said


def test_id_that_is_no_text_is_an_unknown_id() -> None:
    number: str = 5  # type: ignore[assignment]  # what a caller without types may pass
    assert "scenario_id: 5 is unknown" in refusal(lambda: load_scenario(number))


def test_unknown_id_among_many_names_only_the_first_of_them(own: Own) -> None:
    own({f"s{n}.yaml": named(f"s{n}") for n in range(40)})
    assert refusal(lambda: load_scenario("s99")).endswith(f" and {len(SHIPPED) + 10} more")


# --- Quick with many ---


def test_one_study_is_loaded_without_reading_the_others(
    own: Own, monkeypatch: pytest.MonkeyPatch
) -> None:
    own({f"s{n}.yaml": named(f"s{n}") for n in range(20)} | {"demo/s3.yaml": named("s3")})
    read: list[str] = []

    def noted(text: str | bytes, source: str) -> object:
        read.append(source)
        return read_document(text, source)

    monkeypatch.setattr(shelf, "read_document", noted)
    for _ in range(2):
        assert load_scenario("s3", "hard", 5).scenario_id == "s3"
        assert study_text("s4") == named("s4")
    assert read == ["own/s3.yaml", "own/s4.yaml"]


def test_unchanged_files_are_read_once(own: Own, monkeypatch: pytest.MonkeyPatch) -> None:
    own({f"s{n}.yaml": named(f"s{n}") for n in range(20)} | {"bad.yaml": "x"})
    first = own_ids(), faults()
    monkeypatch.setattr(shelf, "read_document", _never)
    assert (own_ids(), faults()) == first
    assert load_scenario("s3").scenario_id == "s3"


def test_fingerprint_differs_when_a_file_is_added_changed_replaced_moved_or_removed(
    own: Own,
) -> None:
    folder = own({"a.yaml": named("a"), "demo/b.yaml": named("b")})
    seen = {shelf_fingerprint()}

    def differs() -> bool:
        before = len(seen)
        seen.add(shelf_fingerprint())
        return len(seen) == before + 1

    assert not differs()
    own({"c.yml": named("c")})
    assert differs()
    own({"a.yaml": named("a").replace("budget: 500", "budget: 600")})
    os.utime(folder / "a.yaml", ns=(1, 1))
    assert differs()
    (folder / "new.txt").write_text(named("a"))
    os.utime(folder / "new.txt", ns=(1, 1))
    (folder / "new.txt").replace(folder / "a.yaml")
    assert differs()
    (folder / "demo").rename(folder / "moved")
    assert differs()
    (folder / "c.yml").unlink()
    assert differs()
    assert not differs()


def test_lists_that_are_given_out_may_be_changed(own: Own) -> None:
    own({"bad.yaml": "x"})
    list_scenarios().clear()
    broken_scenarios().clear()
    assert list_scenarios()
    assert broken_scenarios()


# --- Copies and the template ---


@pytest.mark.parametrize("path", FILES, ids=SHIPPED)
def test_text_of_a_study_is_its_file(path: Path) -> None:
    assert study_text(path.stem) == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("scenario_id", SHIPPED)
def test_copy_changes_the_line_of_the_id_and_nothing_else(scenario_id: str) -> None:
    text, copy = study_text(scenario_id), copy_text(scenario_id, "my_own")
    changed = [
        line for line in difflib.ndiff(text.splitlines(), copy.splitlines()) if line[0] in "+-"
    ]
    assert changed == [f"- scenario_id: {scenario_id}", "+ scenario_id: my_own"]
    assert parse_study(copy, "copy") == parse_study(text, "text").model_copy(
        update={"scenario_id": "my_own"}
    )


@pytest.mark.parametrize(
    ("written", "copied"),
    [
        ("scenario_id: one  # mine: one", "scenario_id: my_own  # mine: one"),
        ('"scenario_id": "one"', '"scenario_id": my_own'),
        ("scenario_id: 'one' # one", "scenario_id: my_own # one"),
        ("scenario_id:\n  one", "scenario_id:\n  my_own"),
        ("scenario_id: >-\n  one", "scenario_id: my_own"),
        ("? scenario_id\n: one", "? scenario_id\n: my_own"),
    ],
)
def test_copy_finds_the_id_however_it_is_written(own: Own, written: str, copied: str) -> None:
    text = named("one").replace("scenario_id: one", written)
    own({"one.yaml": text})
    copy = copy_text("one", "my_own")
    assert copy == text.replace(written, copied)
    assert parse_study(copy, "copy").scenario_id == "my_own"


def test_copy_is_not_misled_by_the_same_key_further_in(own: Own) -> None:
    text = named("one").replace("domain_id", "# scenario_id: x\ndomain_id")
    text = text.replace('title: "A tiny study"', 'title: "scenario_id: one"')
    own({"one.yaml": text})
    assert copy_text("one", "two") == text.replace("scenario_id: one", "scenario_id: two", 1)


@pytest.mark.parametrize("new_id", ["", "My Own", "../x", "a/b", "x\n", "1a", "a" * 65, "x: y"])
def test_copy_refuses_what_is_no_id(new_id: str) -> None:
    said = refusal(lambda: copy_text("fin_momentum", new_id))
    assert said.startswith(f"copy: scenario_id: {repr(new_id)[:59]}")
    assert said.endswith(
        " is not an id; must be lower-case letters, digits and _, beginning with a letter"
    )


def test_copy_of_an_unknown_study_is_refused() -> None:
    assert "'nothing' is unknown" in refusal(lambda: copy_text("nothing", "my_own"))


def test_template_is_a_study_that_is_not_on_the_shelf() -> None:
    study = parse_study(template_text(), "template.yaml")
    assert study.scenario_id not in SHIPPED
    assert "invented" in study.paper.citation


def test_template_explains_every_block() -> None:
    lines = template_text().splitlines()
    tops = [at for at, line in enumerate(lines) if line[:1].isalpha()]
    plain = [lines[at] for at in tops if "#" not in lines[at] and "#" not in lines[at - 1]]
    assert plain == []


def test_missing_template_is_a_scenario_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(loading, "SCENARIO_FOLDER", tmp_path)
    assert "/template.yaml: the file cannot be read" in refusal(template_text)
