"""The licences of what the app brings: `make licences` writes docs/licences.md."""

from __future__ import annotations

import re
import sys
from importlib.metadata import PackageMetadata, PackageNotFoundError, metadata
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).resolve().parents[1]
PAGE: Final = ROOT / "docs" / "licences.md"

ALLOWED: Final = frozenset(
    {
        "0BSD",
        "Apache-2.0",
        "BSD-2-Clause",
        "BSD-3-Clause",
        "CC0-1.0",
        "MIT",
        "MIT-0",
        "MIT-CMU",
        "PSF-2.0",
        "Zlib",
    }
    | {"3-Clause BSD License", "BSD License", "MIT License"}
    | {"Apache License 2.0", "Apache License, Version 2.0"}
    | {"MPL-2.0"}
)
"""Those that let anyone run, change and pass on what uses them, by their short names or in words of
packages; and one that binds only who changes the package itself."""

LINKS: Final = ("homepage", "source", "source code", "repository", "documentation", "github")
"""Where a package is at home, best first."""

HEAD: Final = """\
# Licences

ReplicaLab is under the [MIT licence](../LICENSE). It runs on the packages that `requirements.txt`
pins, each under the licence that it states; its text, and that of what a package carries inside, is
installed with it. All are permissive but the MPL, which binds only who changes the package itself.
`make licences` writes this page, and refuses any other licence.

| package | version | licence |
|---|---|---|
"""


class Package(NamedTuple):
    """A pinned package, and what it says of itself; empty where it says nothing."""

    name: str
    version: str
    licence: str
    home: str


def packages(listed: str = "requirements.txt") -> list[Package]:
    """Return what a list brings; raises PackageNotFoundError for one that is not installed."""
    lock = (ROOT / listed).read_text(encoding="utf-8")
    names = re.findall(r"^([\w.-]+)==", lock, flags=re.MULTILINE)
    return [_package(name, metadata(name)) for name in names]


def _package(name: str, said: PackageMetadata) -> Package:
    return Package(name, said["Version"], _licence(said), _home(said))


def _licence(said: PackageMetadata) -> str:
    """Return the licence that a package names; some give the whole text, which is no name."""
    named = [*said.get_all("License-Expression", []), *said.get_all("License", [])]
    classes = said.get_all("Classifier", [])
    named += [line.rpartition(" :: ")[2] for line in classes if line.startswith("License ::")]
    return next((name for name in named if name and "\n" not in name), "")


def _home(said: PackageMetadata) -> str:
    labelled = (line.split(", ", 1) for line in said.get_all("Project-URL", []))
    links = {label.lower(): link for label, link in labelled}
    homes = [*(links[label] for label in LINKS if label in links), *said.get_all("Home-page", [])]
    return homes[0] if homes else ""


def page(brought: list[Package]) -> str:
    """Return docs/licences.md."""
    rows = (f"| [{p.name}]({p.home}) | {p.version} | {p.licence} |\n" for p in brought)
    return HEAD + "".join(rows)


def is_allowed(licence: str) -> bool:
    """Return whether each part of a licence, or one of its alternatives, is an allowed one."""
    return all(ALLOWED & set(part.split(" OR ")) for part in licence.split(" AND "))


def main() -> None:
    """Write the page; stop at a package that is not here or not under an allowed licence."""
    try:
        brought = packages()
    except PackageNotFoundError as error:
        sys.exit(
            f"{error.name} is pinned but not installed here. Run this on Linux, after `make run`."
        )
    if refused := [
        f"{p.name}: {p.licence or 'no licence stated'}"
        for p in brought
        if not is_allowed(p.licence)
    ]:
        sys.exit("Not among the licences that supply/licences.py allows:\n" + "\n".join(refused))
    PAGE.write_text(page(brought), encoding="utf-8")


if __name__ == "__main__":
    main()
