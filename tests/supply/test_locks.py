"""What is installed is what was pinned: every file by its hash, nothing built, from any index."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).resolve().parents[2]
PARTS: Final = ("", "-pdf", "-postgres", "-dask", "-signin", "-dev", "-tools")
LISTS: Final = tuple(f"requirements{part}" for part in PARTS)
PIN: Final = r"(?P<name>[\w.-]+)(\[\w+\])?==(?P<version>[\w.]+)"
LOCKED: Final = re.compile(PIN + r"( ; [^#@]+?)?( --hash=sha256:[0-9a-f]{64})+")
ASKED: Final = re.compile(PIN + r"(; [^#]+?)? +# .+")
WHEELS_ONLY: Final = "--only-binary :all:"


def lines_of(lock: str) -> list[str]:
    """Return the lines of a lock as pip reads them: continued ones as one, without comments."""
    text = (ROOT / f"{lock}.txt").read_text().replace("\\\n", "")
    lines = (" ".join(line.split()) for line in text.splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def asked_in(name: str) -> list[str]:
    """Return what a list asks for, without the lists that it builds on."""
    lines = (ROOT / f"{name}.in").read_text().splitlines()
    return [line for line in lines if line and not line.startswith(("#", "-r", "-c"))]


def pins(lines: list[str]) -> dict[str, str]:
    """Return the version of each package, under its canonical name."""
    found = (re.match(PIN, line) for line in lines)
    return {re.sub(r"[-_.]+", "-", m["name"]).lower(): m["version"] for m in found if m}


@pytest.mark.parametrize("name", LISTS)
def test_lock_takes_what_its_list_asks_for_as_wheels_by_their_hashes(name: str) -> None:
    first, *rest = lines_of(name)
    assert first == WHEELS_ONLY
    assert [line for line in rest if not LOCKED.fullmatch(line)] == []
    assert [line for line in asked_in(name) if not ASKED.fullmatch(line)] == []
    asked = pins(asked_in(name))
    assert asked
    assert asked.items() <= pins(rest).items()


def test_locks_agree_on_every_version() -> None:
    app, pdf, postgres, dask, signin, dev, tools = (pins(lines_of(lock)) for lock in LISTS)
    assert app.items() <= postgres.items() <= dev.items()
    assert pdf.items() <= dev.items()
    assert dask.items() <= dev.items()
    assert signin.items() <= dev.items()
    assert {name for name in dev.keys() & tools.keys() if dev[name] != tools[name]} == set()


def test_wheel_is_built_with_what_is_pinned_for_the_tests() -> None:
    build = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    assert build
    assert pins(build).items() <= pins(asked_in("requirements-dev")).items()


SNIFFIO: Final = f"sniffio-{pins(lines_of('requirements'))['sniffio']}"


def foreign_wheel(shop: Path) -> None:
    """Offer a wheel with other content under a pinned version."""
    about = f"{SNIFFIO}.dist-info"
    named = "Name: {}\nVersion: {}\n".format(*SNIFFIO.split("-"))
    with zipfile.ZipFile(shop / f"{SNIFFIO}-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\n" + named)
        wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel.writestr(f"{about}/RECORD", "")
        wheel.writestr("harm", "")


def foreign_source(shop: Path) -> None:
    """Offer a source archive, whose build runs its own code on the machine that installs it."""
    top = shop / SNIFFIO
    top.mkdir()
    build = '[build-system]\nrequires = []\nbuild-backend = "build"\nbackend-path = ["."]\n'
    (top / "pyproject.toml").write_text(build)
    (top / "build.py").write_text(f"open({str(shop.parent / 'taken' / 'harm')!r}, 'w').close()")
    with tarfile.open(shop / f"{SNIFFIO}.tar.gz", "w:gz") as archive:
        archive.add(top, arcname=top.name)


def install(requirements: list[str], shop: Path, taken: Path) -> int:
    """Return the exit status of pip, told to install a list from a shop that is not ours."""
    listed = shop / "listed.txt"
    listed.write_text("\n".join(requirements))
    pip = [sys.executable, *"-I -m pip --isolated install --no-deps --no-cache-dir".split()]
    source = ["--no-index", f"--find-links={shop}", f"--target={taken}", f"--requirement={listed}"]
    return subprocess.run([*pip, *source], capture_output=True, check=False).returncode


@pytest.mark.parametrize("offer", [foreign_wheel, foreign_source])
def test_foreign_file_under_a_pinned_version_is_refused(
    tmp_path: Path, offer: Callable[[Path], None]
) -> None:
    shop, taken = tmp_path / "shop", tmp_path / "taken"
    shop.mkdir()
    taken.mkdir()
    offer(shop)
    [sniffio] = (line for line in lines_of("requirements") if line.startswith("sniffio=="))
    assert install([lines_of("requirements")[0], sniffio], shop, taken) != 0
    assert list(taken.iterdir()) == []
    install(["==".join(SNIFFIO.split("-"))], shop, taken)
    assert (taken / "harm").exists(), "without hashes the same offer does harm"


def test_make_counts_nothing_as_installed_that_pythonpath_offers(tmp_path: Path) -> None:
    about = tmp_path / "stranger-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: stranger\nVersion: 1.0\n")
    listed = tmp_path / "listed.txt"
    listed.write_text(f"stranger==1.0 --hash=sha256:{'0' * 64}")
    [install] = re.findall(r"^INSTALL := (.+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    asked = ["--dry-run", "--no-index", f"--requirement={listed}"]
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    command = [sys.executable, *install.split(), *asked]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert "No matching distribution found for stranger==1.0" in done.stderr
