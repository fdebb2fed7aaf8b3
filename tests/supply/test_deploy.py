"""What deploy/ tells systemd, nginx and a container is what the server and the lists say."""

from __future__ import annotations

import re
import runpy
import urllib.request
from pathlib import Path
from typing import Final
from urllib.request import Request

import pytest
import yaml

from replicalab.server.running import READY
from replicalab.server.wall import MOST_CONNECTIONS

ROOT: Final = Path(__file__).resolve().parents[2]
DEPLOY: Final = ROOT / "deploy"
TEXTS: Final = {path.name: path.read_text(encoding="utf-8") for path in DEPLOY.iterdir()}
FOLDERS: Final = ("pages", "scenarios", "replicalab")
"""Copied whole: of .streamlit, which may hold secrets, only what is named."""
OF_A_PAGE: Final = 4
"""Descriptors."""


def test_lists_that_are_installed_exist() -> None:
    guide = (ROOT / "docs" / "serving.md").read_text(encoding="utf-8")
    named = set(re.findall(r"requirements[\w-]*\.\w+", "".join([guide, *TEXTS.values()])))
    assert {"requirements.txt", "requirements-pdf.txt", "requirements-postgres.txt"} <= named
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_what_the_container_copies_exists() -> None:
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", TEXTS["Containerfile"], re.MULTILINE)
    paths = [path for line in copied for path in line.split()]
    assert {"app.py", "pages", "scenarios", "replicalab"} <= {*paths}
    assert [path for path in paths if not (ROOT / path).is_file() and path not in FOLDERS] == []
    sent = {
        line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line[0] == "!"
    }
    lists = {path for path in paths if path.startswith("requirements")}
    assert {*paths} - lists == sent - {"requirements*.txt"}, "and nothing else is sent to be built"


def test_containers_get_only_files_that_exist_and_certificates_that_git_never_takes() -> None:
    services = yaml.safe_load(TEXTS["compose.yaml"])["services"]
    assert services["replicalab"]["build"]["dockerfile"] == "deploy/Containerfile"
    mounted = [volume.split(":")[0] for volume in services["proxy"]["volumes"]]
    assert all("${LAB_HOST}" in each for each in services["proxy"]["volumes"][1:])
    assert mounted == ["./nginx.conf", "./certificate.pem", "./certificate.key"]
    assert "nginx.conf" in TEXTS
    assert "deploy/certificate.*" in (ROOT / ".gitignore").read_text().splitlines()


def test_proxy_s_container_asks_the_server_s_by_its_name_each_time() -> None:
    proxy = yaml.safe_load(TEXTS["compose.yaml"])["services"]["proxy"]
    shell = proxy["command"][-1].replace("$$", "$")
    [(old, new)] = re.findall(r"sed 's\|([^|]+)\|([^|]+)\|' ", shell)
    assert TEXTS["nginx.conf"].count(old) == len(
        re.findall("proxy_pass http://r", TEXTS["nginx.conf"])
    )
    assert new == "set $app replicalab:8501; proxy_pass http://$app;", (
        "a variable is looked up anew"
    )
    assert '$1 == "nameserver" {print "resolver", $2, "valid=' in shell


def test_who_asks_without_tls_is_sent_to_this_name_alone() -> None:
    sent = re.findall(r"return 301 https://(\S+?)\$request_uri;", TEXTS["nginx.conf"])
    assert sent == ["$server_name"]


def test_key_of_a_copy_is_put_back_as_the_server_s_user() -> None:
    guide = (ROOT / "docs" / "serving.md").read_text(encoding="utf-8")
    back = [line for line in guide.splitlines() if line.endswith("< /mnt/backup/visitors.key")]
    assert [line.split(" sh -c ")[0] for line in back] == [
        "docker compose run --rm -T replicalab"
    ], "of what is copied into a container root is the owner"


def test_probes_ask_the_address_that_answers() -> None:
    assert re.findall(r"^    location = (\S+) ", TEXTS["nginx.conf"], re.MULTILINE) == [READY]
    probe = '"/venv/bin/python", "/app/ready.py"]'
    assert f"CMD [{probe}" in TEXTS["Containerfile"]
    assert f'["CMD", {probe}' in TEXTS["compose.yaml"]


@pytest.mark.parametrize(
    ("environment", "asked"),
    [
        ({}, ("127.0.0.1", READY)),
        ({"STREAMLIT_SERVER_ALLOWED_HOSTS": "lab.example.org"}, ("lab.example.org", READY)),
        (
            {
                "STREAMLIT_SERVER_ALLOWED_HOSTS": "lab.example.org 127.0.0.1",
                "STREAMLIT_SERVER_BASE_URL_PATH": "/lab/",
            },
            ("lab.example.org", f"/lab{READY}"),
        ),
    ],
)
def test_container_asks_by_a_name_and_below_the_path_that_it_serves(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], asked: tuple[str, str]
) -> None:
    for name in ("STREAMLIT_SERVER_ALLOWED_HOSTS", "STREAMLIT_SERVER_BASE_URL_PATH"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    requests: list[Request] = []
    monkeypatch.setattr(urllib.request, "urlopen", lambda each, timeout: requests.append(each))
    runpy.run_path(str(DEPLOY / "ready.py"))
    assert [(each.get_header("Host"), each.selector) for each in requests] == [asked]


def test_descriptors_are_enough_for_every_page_that_is_let_in() -> None:
    [limit] = re.findall(r"^LimitNOFILE=(\d+)$", TEXTS["replicalab.service"], re.MULTILINE)
    nofile = yaml.safe_load(TEXTS["compose.yaml"])["services"]["replicalab"]["ulimits"]["nofile"]
    assert min(int(limit), nofile) > OF_A_PAGE * MOST_CONNECTIONS


def test_nginx_keeps_out_a_name_that_a_browser_brings() -> None:
    guide = (ROOT / "docs" / "serving.md").read_text(encoding="utf-8")
    names = re.findall(r'^REPLICALAB_(?:PERSON|GROUPS)_HEADER="([\w-]+)"$', guide, re.MULTILINE)
    sent = dict(
        re.findall(r"^ {8}proxy_set_header (\S+) (\$\w+);", TEXTS["nginx.conf"], re.MULTILINE)
    )
    assert len(names) == 2
    for name in names:
        assert f'RequestHeader set {name} "' in guide, "with Apache"
        assert f'        set {sent[name]} "";' in TEXTS["nginx.conf"].splitlines()
