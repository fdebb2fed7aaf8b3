"""The wheel, installed and used from another folder, gives the same answers as the clone."""

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from email.parser import BytesParser
from pathlib import Path
from typing import Any, Final
from zipfile import ZipFile

import pytest
from playwright.sync_api import Page, expect

import replicalab
from tests.browser.driving import AppServer, open_app
from tests.browser.visiting import FULL_ADDRESSES, follow, press, type_number, where

ROOT: Final = Path(__file__).resolve().parents[2]
CARRIED: Final = ("app.py", "pages", "scenarios", ".streamlit")
pytestmark = pytest.mark.wheel


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True)
    [wheel] = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="session")
def scripts(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("installed") / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home)], check=True)
    python = str(home / "bin" / "python")
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index"]
    subprocess.run([*pip, str(wheel)], check=True)
    [packages] = (home / "lib").glob("python*/site-packages")
    lent = [path for path in sys.path if Path(path).name == "site-packages"]
    (packages / "lent.pth").write_text("\n".join(lent))
    return home / "bin"


@pytest.fixture(scope="session")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("elsewhere")
    (folder / ".streamlit").mkdir()
    (folder / ".streamlit" / "config.toml").write_text(
        '[server]\nallowedHosts = []\n[theme]\nprimaryColor = "#ff00ff"\n'
    )
    return folder


@pytest.fixture(scope="module")
def app_server(
    browser_type_launch_args: dict[str, object], scripts: Path, elsewhere: Path
) -> Iterator[AppServer]:
    assert browser_type_launch_args
    command = (str(scripts / "replicalab"), "serve", "--no-browser")
    with AppServer(elsewhere / "app.py", elsewhere / "log", command=command) as server:
        yield server


def output_of(command: list[str | Path], folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode in {0, 1}, done.stderr
    return done.stdout


def test_wheel_carries_files_ranges_and_extras(wheel: Path) -> None:
    files = subprocess.run(
        ["git", "ls-files", "replicalab", *CARRIED],  # noqa: S607 - the system's
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split("\n")
    wanted = {f if f.startswith("replicalab/") else f"replicalab/tree/{f}" for f in files if f}
    with ZipFile(wheel) as opened:
        texts = {name for name in opened.namelist() if ".dist-info/" not in name}
        [name] = (name for name in opened.namelist() if name.endswith("/METADATA"))
        about = BytesParser().parsebytes(opened.read(name))
    assert texts == wanted
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    listed = len(project["dependencies"]) + len(project["optional-dependencies"])
    requirements = about.get_all("Requires-Dist", [])
    assert len(requirements) == listed
    assert [line for line in requirements if "==" in line.partition(";")[0]] == []
    assert about.get_all("Provides-Extra") == ["dask", "pdf", "postgres", "signin"]
    assert about["Version"] == replicalab.__version__
    assert about["Requires-Python"] == "<3.15,>=3.11"


def test_package_answers_as_the_clone_does(scripts: Path, elsewhere: Path) -> None:
    text = "import replicalab as rl; print(rl.__file__, rl.__version__, len(rl.studies()))"
    file, version, studies = output_of([scripts / "python", "-c", text], elsewhere).split()
    assert Path(file).is_relative_to(scripts.parent)
    assert (version, int(studies)) == (replicalab.__version__, len(replicalab.studies()))
    command = "check psy_stroop --lab hard --samples 60 --json".split()
    here = output_of([sys.executable, "-m", "replicalab", *command], ROOT)
    assert output_of([scripts / "replicalab", *command], elsewhere) == here
    assert here
    output_of([scripts / "replicalab", "report", "psy_stroop", "--save", "report.pdf"], elsewhere)
    assert (elsewhere / "report.pdf").read_bytes().startswith(b"%PDF")


def test_pages_open_and_a_plan_is_edited(app_page: Page) -> None:
    for address in (*FULL_ADDRESSES[:2], FULL_ADDRESSES[-1]):
        open_app(app_page, address)
        expect(app_page).to_have_title(re.compile("ReplicaLab"))
        expect(app_page.get_by_role("heading", level=1)).to_be_visible()
    follow(app_page, "Protocol")
    press(app_page, "Stroop interference")
    type_number(app_page, "Sample size", 170)
    expect(where(app_page)).to_contain_text("Your plan")
    _settings_do_not_depend_on_the_folder(app_page)


def _settings_do_not_depend_on_the_folder(page: Page) -> None:
    config: dict[str, Any] = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())
    open_app(page, "/Protocol?study=fin_momentum")
    background = config["theme"]["light"]["backgroundColor"].removeprefix("#")
    channels = ", ".join(str(channel) for channel in bytes.fromhex(background))
    expect(page.get_by_test_id("stApp")).to_have_css("background-color", f"rgb({channels})")
    answer = page.request.get("/", headers={"Host": "elsewhere.example"})
    assert answer.status == 400, json.dumps(answer.headers)
