"""The requirement files, the wheel's metadata and the files of deploy/."""

import re
import runpy
import tomllib
import urllib.request
from pathlib import Path
from typing import Final
from urllib.request import Request

import pytest
import yaml

import replicalab

ROOT: Final = Path(__file__).resolve().parents[1]
DEPLOY: Final = ROOT / "deploy"
PIN: Final = re.compile(r"[\w.-]+(\[\w+\])?==[\w.]+( ; [^#@]+?)?( --hash=sha256:[0-9a-f]{64})+")


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-dev.txt"])
def test_requirements_pin_wheels_by_hash(name: str) -> None:
    text = (ROOT / name).read_text().replace("\\\n", "")
    lines = [" ".join(line.split()) for line in text.splitlines()]
    first, *pins = [line for line in lines if line and not line.startswith("#")]
    assert first == "--only-binary :all:"
    assert [pin for pin in pins if not PIN.fullmatch(pin)] == []


def test_requirements_name_every_dependency() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    assert {*extras} == {"pdf", "postgres", "dask", "signin"}
    wanted = [*project["dependencies"], *extras["pdf"], *extras["postgres"], *extras["signin"]]
    names = {re.split(r"[\[<>=;]", line)[0].lower() for line in wanted}
    pinned = re.findall(r"^([\w.-]+)", (ROOT / "requirements.txt").read_text(), re.MULTILINE)
    assert names <= {*pinned}


def test_container_copies_files_that_exist() -> None:
    text = (ROOT / "Dockerfile").read_text()
    copied = " ".join(re.findall(r"^COPY (?!--from)(.+) \S+$", text, re.MULTILINE)).split()
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    assert [path for path in copied if not (ROOT / path).exists()] == []
    assert {*copied} == {line[1:] for line in ignored if line.startswith("!")}


def test_citation_and_package_have_one_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["version"] == replicalab.__version__
    assert citation["license"] == "MIT"


@pytest.mark.parametrize(
    ("environment", "request_to"),
    [
        ({}, ("127.0.0.1", "/ready")),
        ({"STREAMLIT_SERVER_ALLOWED_HOSTS": "lab.example 127.0.0.1"}, ("lab.example", "/ready")),
        ({"STREAMLIT_SERVER_BASE_URL_PATH": "/lab/"}, ("127.0.0.1", "/lab/ready")),
    ],
)
def test_container_probe_uses_host_and_path(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], request_to: tuple[str, str]
) -> None:
    for name in ("STREAMLIT_SERVER_ALLOWED_HOSTS", "STREAMLIT_SERVER_BASE_URL_PATH"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    requests: list[Request] = []
    monkeypatch.setattr(urllib.request, "urlopen", lambda sent, timeout: requests.append(sent))
    runpy.run_path(str(DEPLOY / "ready.py"))
    assert [(sent.get_header("Host"), sent.selector) for sent in requests] == [request_to]
