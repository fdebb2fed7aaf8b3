"""Folders of studies: the shipped one, one's own, and files that must not be read."""

import difflib
import os
from collections import Counter
from collections.abc import Callable, Hashable
from functools import partial
from pathlib import Path
from typing import Any, Final, NoReturn

import pytest

from replicalab import scenarios
from replicalab.scenarios.loading import SCENARIO_FOLDER
from replicalab.scenarios.reading import read_document
from tests.golden import assert_golden
from tests.scenarios.small_study import bent, named, refusal

FILES: Final = sorted(SCENARIO_FOLDER.glob("*/*.yaml"))
SHIPPED: Final = [path.stem for path in FILES]

Own = Callable[..., Path]


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Own:
    folder = tmp_path / "own"
    folder.mkdir()
    monkeypatch.setenv(scenarios.FOLDER_VARIABLE, str(folder))

    def write(files: dict[str, str | bytes] | None = None) -> Path:
        for name, text in (files or {}).items():
            path = folder / name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return folder

    return write


def own_ids() -> list[str]:
    return [one.scenario_id for one in scenarios.list_scenarios() if one.scenario_id not in SHIPPED]


def faults() -> list[str]:
    return [str(error) for error in scenarios.broken_scenarios()]


def never(*_: object) -> NoReturn:
    raise AssertionError("this file must not be read")


def test_shipped_folder_holds_twelve_studies_of_eight_domains() -> None:
    assert scenarios.broken_scenarios() == []
    domains = Counter(one.domain_id for one in scenarios.list_scenarios())
    assert (len(domains), domains.total()) == (8, 12)


def test_own_studies_are_listed_with_the_shipped_ones(own: Own) -> None:
    own({
        "flat.yaml": named("flat", "anything"),
        "demo_b/one.yaml": named("one", "demo_b"),
        "demo/two_b.yaml": named("two_b"),
        "demo/two.yml": named("two"),
    })  # fmt: skip
    listed = [(one.domain_id, one.scenario_id) for one in scenarios.list_scenarios()]
    assert listed == sorted(listed)
    assert own_ids() == ["flat", "two", "two_b", "one"]
    assert len(listed) == len(SHIPPED) + 4
    assert scenarios.broken_scenarios() == []
    for scenario_id in ("flat", "one", "two", SHIPPED[0]):
        assert scenarios.load_scenario(scenario_id, "hard", 3).scenario_id == scenario_id


def test_changed_variable_changes_the_folders(own: Own, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = own({"flat.yaml": named("flat")})
    (folder.parent / "link").symlink_to(SCENARIO_FOLDER)
    monkeypatch.chdir(folder.parent)
    assert scenarios.scenario_folders() == [SCENARIO_FOLDER, folder]
    for name, texts in ((str(folder), ["flat"]), ("own", ["flat"]), ("", []), ("link", [])):
        monkeypatch.setenv(scenarios.FOLDER_VARIABLE, name)
        assert own_ids() == texts
        assert len(scenarios.list_scenarios()) == len(SHIPPED) + len(texts)
        assert scenarios.broken_scenarios() == []
    monkeypatch.delenv(scenarios.FOLDER_VARIABLE)
    assert scenarios.scenario_folders() == [SCENARIO_FOLDER]


def test_missing_folder_is_one_fault_without_its_path(
    own: Own, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = own({"a.yaml": named("a")}) / "a.yaml"
    for name, why in ((file.parent / "no", "No such file or directory"), (file, "Not a directory")):
        monkeypatch.setenv(scenarios.FOLDER_VARIABLE, str(name))
        assert faults() == [
            f"REPLICALAB_SCENARIO_DIR: the folder that it names cannot be read ({why}); "
            "name a folder that exists and may be read, or unset it"
        ]
        assert len(scenarios.list_scenarios()) == len(SHIPPED)
        assert scenarios.load_scenario(SHIPPED[0]).scenario_id == SHIPPED[0]
        assert isinstance(scenarios.shelf_fingerprint(), Hashable)


def test_every_fault_of_a_folder_is_reported(own: Own) -> None:
    folder = own({
        "fine.yaml": named("fine"),
        # wrong within
        "bad.yaml": bent(("tiny", "bad"), ("days: 5", "days: 0")),
        "bytes.yaml": b"\xff",
        # a name, a place or an id that is not its own
        "other.yaml": named("flat", "anything"),
        "demo/My Study.yml": named("nested"),
        "Big Domain/big.yaml": named("big", "big_domain"),
        "demo/stray.yaml": named("stray", "wrong"),
        "fin_momentum.yaml": named("fin_momentum"),
        "demo/fine.yaml": named("fine"),
        "SHOUTED.YAML": named("shouted"),
        # passed over
        ".hidden.yaml": "x",
        ".git/config.yaml": "x",
        "notes.txt": "x",
        "demo/deeper.yaml.bak": "x",
    })  # fmt: skip
    outside = folder.parent / "outside"
    outside.mkdir()
    for name in ("away.yaml", "deep.yaml"):
        (outside / name).write_text(named(Path(name).stem, "afar"))
    (folder / "away.yaml").symlink_to(outside / "away.yaml")
    (folder / "afar").symlink_to(outside)
    (folder / "linked.yaml").symlink_to(folder / "demo" / "linked.yml")
    own({"demo/linked.yml": named("linked")})
    (folder / "same").symlink_to(folder / "demo")
    (folder / "loop.yaml").symlink_to(folder / "loop.yaml")
    (folder / "gone.yaml").symlink_to(folder / "nowhere")
    (folder / "folder.yaml").mkdir()
    (folder / "folder.yaml" / "inner.yaml").write_text(named("inner"))
    os.mkfifo(folder / "pipe.yaml")  # opening one would wait for ever
    for letters in (b"half\xff.yaml", b"line\nbreak\x1b.yaml"):
        Path(os.fsdecode(os.fsencode(folder) + b"/" + letters)).write_text("x")
    assert own_ids() == ["fine", "linked"]
    assert_golden("study_folder_faults", "\n".join(faults()))
    for name in ("away", "deep", "folder", "pipe", "bad"):
        for _ in range(2):
            assert f"{name}.yaml: " in refusal(partial(scenarios.load_scenario, name))
    assert scenarios.load_scenario("fin_momentum").domain_id == "finance_trading"
    assert "leaves the folder" in refusal(lambda: scenarios.study_text("deep"))


def test_large_file_is_refused_unread(own: Own, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = own({"vast.yaml": named("vast"), "huge.yaml": named("huge")})
    sizes = {"huge": 5 * 1024**2, "vast": 5 * 1024**3}
    for name, size in sizes.items():
        os.truncate(folder / f"{name}.yaml", size)  # sparse: it takes no room, but long to read
    monkeypatch.setattr(scenarios.loading.reading, "read_document", never)
    assert faults() == [
        f"own/{name}.yaml: the file has {size} bytes, more than the 262144 allowed; shorten it"
        for name, size in sizes.items()
    ]


def test_what_may_not_be_read_is_a_fault(own: Own, monkeypatch: pytest.MonkeyPatch) -> None:
    own({"secret.yaml": named("secret"), "closed/a.yaml": named("a", "closed"),
         "fine.yaml": named("fine")})  # fmt: skip

    def refusing(real: Callable[..., object], path: Path | str, *mode: int) -> object:
        if Path(path).name in ("secret.yaml", "closed"):
            raise PermissionError(13, "Permission denied")
        return real(path, *mode)

    opened, listed = os.open, os.scandir
    monkeypatch.setattr(os, "open", lambda *asked: refusing(opened, *asked))
    monkeypatch.setattr(os, "scandir", lambda *asked: refusing(listed, *asked))
    assert sorted(faults()) == [
        f"own/{name}: the file cannot be read ({why}); check that it is a readable file"
        for name, why in (
            ("closed", "its files cannot be listed"),
            ("secret.yaml", "Permission denied"),
        )
    ]
    assert own_ids() == ["fine"]


@pytest.mark.parametrize(
    "trick",
    [
        "../fin_momentum", "finance_trading/fin_momentum", "/etc/passwd", "fin_momentum.yaml",
        "fin_momentum\x00", "Fin_momentum", "", "..", "*", "template", "a" * 65, "\ud800",
    ],
)  # fmt: skip
def test_path_as_an_id_is_unknown(trick: str) -> None:
    for call in (scenarios.load_scenario, scenarios.study_text):
        text = refusal(partial(call, trick))
        assert f"scenario_id: {repr(trick)[:59]}" in text
        assert " is unknown; " in text


def test_unknown_names_are_refused_with_known_ones(own: Own) -> None:
    own({f"s{n}.yaml": named(f"s{n}", "demo") for n in range(40)})
    number: Any = 5
    for scenario_id, text in ((number, "5 is unknown; "), ("s99", "'s99' is unknown; did you ")):
        message = refusal(partial(scenarios.load_scenario, scenario_id))
        assert message.startswith(f"scenarios: scenario_id: {text}")
        names = message.partition("known: ")[2].split(", ")
        assert names == sorted([*SHIPPED, *(f"s{n}" for n in range(40))])
    assert refusal(lambda: scenarios.load_scenario("s1", "harder")) == (
        "scenarios: difficulty: 'harder' is unknown; did you mean 'hard'? known: easy, medium, hard"
    )
    assert refusal(lambda: scenarios.generate_scenario(1, "dem", "easy")).startswith(
        "scenarios: domain_id: 'dem' is unknown; did you mean 'demo'? known: biology, chemistry, "
    )


def test_what_is_no_seed_is_refused() -> None:
    study = scenarios.load_scenario("fin_momentum").study
    seeds: tuple[Any, ...] = (-1, True, 2.0, "2", None, 2**63)
    for seed in seeds:
        text = f"lab: seed: {seed!r} is not a seed; use a whole number from 0 to {2**63 - 1}"
        assert refusal(partial(scenarios.pack_of, study, scenarios.Difficulty.EASY, seed)) == text
        assert refusal(partial(scenarios.load_scenario, "fin_momentum", "easy", seed)) == text
        assert (
            refusal(partial(scenarios.generate_scenario, seed, "finance_trading", "easy")) == text
        )
    huge = refusal(partial(scenarios.pack_of, study, scenarios.Difficulty.EASY, 10**5000))
    assert "a huge number is not a seed" in huge


def test_generated_study_depends_on_seed_and_domain_only(own: Own) -> None:
    own({f"demo/{one}.yaml": named(one) for one in "abc"} | {"far/d.yaml": named("d", "far")})
    packs = [scenarios.generate_scenario(seed, "demo", "hard") for seed in range(12)]
    assert [pack.scenario_id for pack in packs] == list("abccbbaccaba")
    assert packs == [
        scenarios.load_scenario(one.scenario_id, "hard", n) for n, one in enumerate(packs)
    ]
    easy = [scenarios.generate_scenario(seed, "demo", "easy") for seed in range(3)]
    assert [pack.scenario_id for pack in easy] == list("abc")
    assert scenarios.generate_scenario(5, "far", "easy").scenario_id == "d"


def test_files_are_read_once_and_on_request(own: Own, monkeypatch: pytest.MonkeyPatch) -> None:
    own({f"s{n}.yaml": named(f"s{n}") for n in range(20)} | {"demo/s3.yaml": named("s3")})
    read: list[str] = []

    def noted(text: str | bytes, source: str) -> object:
        read.append(source)
        return read_document(text, source)

    monkeypatch.setattr(scenarios.loading.reading, "read_document", noted)
    for _ in range(2):
        assert scenarios.load_scenario("s3", "hard", 5).scenario_id == "s3"
        assert scenarios.study_text("s4") == named("s4")
    assert read == ["own/s3.yaml", "own/s4.yaml"]
    first = own_ids(), faults()
    assert len(read) == 21
    assert (own_ids(), faults()) == first
    assert len(read) == 21


def test_changed_file_is_read_again(own: Own) -> None:
    folder = own({"a.yaml": named("a"), "demo/b.yaml": named("b")})
    seen = {scenarios.shelf_fingerprint()}

    def differs() -> bool:
        before = len(seen)
        seen.add(scenarios.shelf_fingerprint())
        return len(seen) == before + 1

    assert not differs()
    own({"c.yml": named("c")})
    assert differs()
    assert scenarios.load_scenario("a").lab.budget == 500
    own({"a.yaml": bent(("tiny", "a"), ("budget: 500", "budget: 600"))})
    os.utime(folder / "a.yaml", ns=(1, 1))
    assert scenarios.load_scenario("a").lab.budget == 600
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


@pytest.mark.parametrize("path", FILES[::4], ids=SHIPPED[::4])
def test_copy_changes_only_the_line_of_the_id(path: Path) -> None:
    text, copy = scenarios.study_text(path.stem), scenarios.copy_text(path.stem, "my_own")
    assert text == path.read_text(encoding="utf-8")
    changed = [
        line for line in difflib.ndiff(text.splitlines(), copy.splitlines()) if line[0] in "+-"
    ]
    assert changed == [f"- scenario_id: {path.stem}", "+ scenario_id: my_own"]
    assert scenarios.parse_study(copy, "copy") == scenarios.parse_study(text, "text").model_copy(
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
    text = text.replace("domain_id", "# scenario_id: x\ndomain_id")
    text = text.replace('title: "A tiny study"', 'title: "scenario_id: one"')
    own({"one.yaml": text})
    copy = scenarios.copy_text("one", "my_own")
    assert copy == text.replace(written, copied)
    assert scenarios.parse_study(copy, "copy").scenario_id == "my_own"
