"""A research object crate (RO-Crate 1.1): all that leaves of a plan, in one ZIP file.

Source: https://w3id.org/ro/crate/1.1.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from replicalab.documents import CRATED_BUNDLE, FORMS, MIMES
from replicalab.lexicon import capitalised
from replicalab.registration import PROFILES, Profile, Registration
from replicalab.views.blocks import NOT_GIVEN
from replicalab.views.documents import cited, of_run
from replicalab.views.lab import lab_text
from replicalab.views.registered import Registered
from replicalab.views.registration import registration, registry_text
from replicalab.views.verdicts import plan_size, plan_verdict

if TYPE_CHECKING:
    from rocrate.rocrate import ROCrate

    from replicalab.library import Decision
    from replicalab.negotiation import Negotiation, Recording
    from replicalab.planner import Aim, PlanAnalysis
    from replicalab.reports import Document, Paper
    from replicalab.scenarios import Pack

SUFFIX: Final = "zip"
DEFAULT_FORM: Final = PROFILES["replication"]
"""The registration form that goes along where none is named."""

_METADATA: Final = "ro-crate-metadata.json"
_VERSION: Final = "1.1"
_NO_LETTERS: Final = re.compile(r"[^a-z0-9]+")
_LONGEST_NAME: Final = 60
_PACKED: Final = (1980, 1, 1, 0, 0, 0)  # The same content is the same bytes, whenever it is packed.
_READABLE: Final = 0o644 << 16
_NO_LICENCE: Final = "Not given: ask whoever made it how it may be used."
_LINK: Final = re.compile(r"https?://\S+")

Printer = Callable[[Sequence["Document"], "Paper"], list[bytes]]
"""Makes documents PDFs for a paper, in their order."""


class _File(NamedTuple):
    """A file of a crate; a document bears the day and has the registration's authors."""

    path: str
    name: str
    data: bytes
    is_document: bool = False


def crate(
    options: PlanAnalysis,
    written: Pack,
    *,
    on: date,
    run: Negotiation | None = None,
    recording: Recording | None = None,
    decision: Decision | None = None,
    said: Registration | None = None,
    profile: Profile = DEFAULT_FORM,
    aim: Aim | None = None,
    paper: Paper = "A4",
    printer: Printer | None = None,
) -> bytes:
    """Return a plan's bundle, documents, tables, figures and answers as a ZIP file, described.

    The same content gives the same bytes.

    Args:
        options: the plan in its lab; the documents are about what the run came to.
        written: the lab as its author wrote it.
        on: the day that the documents bear.
        run: the negotiation that opens with the plan, None for none.
        recording: what is known of its language model.
        decision: the latest for or against the plan.
        said: what only its author can say.
        profile: the registration form.
        aim: what combinations of means in the report are to reach.
        paper: of PDF and Word.
        printer: makes the PDF of each document; None leaves PDF out.

    Raises:
        PrintError: the printer fails.
    """
    from replicalab import reports  # noqa: PLC0415 - Jinja2, with the first document

    shown, said = of_run(options, run), said or Registration()
    about: dict[str, Any] = {"on": on, "written": written, "run": run, "decision": decision}
    registered = Registered(shown, said, decision, run)
    documents = {
        "brief": reports.brief(shown, **about),
        "funding": reports.funding_request(shown, on=on, said=said),
        "report": reports.report(shown, **about, said=said, aim=aim),
        "registration": registration(profile, registered, on=on),
    }
    files = [
        _File(
            CRATED_BUNDLE,
            "The bundle: it opens in ReplicaLab, which works everything out anew",
            reports.bundle(options, written, run, recording, decision).encode(),
        ),
        *_forms(documents, paper, printer),
        _File(
            "registration.json",
            f"{profile.title}: the answers by the form’s own ids",
            registry_text(profile, registered).encode(),
        ),
        *_tables(documents["report"]),
        *_figures(documents["report"]),
    ]
    return _packed(files, _metadata(files, shown, said, on))


def _forms(
    documents: Mapping[str, Document], paper: Paper, printer: Printer | None
) -> Iterator[_File]:
    """Yield each document in each form but the workbook: its tables have files of their own."""
    forms = {suffix: form for suffix, form in FORMS.items() if suffix not in ("pdf", "xlsx")}
    printed = printer([*documents.values()], paper) if printer else []
    for number, (name, document) in enumerate(documents.items()):
        made = {suffix: form.make(document, paper) for suffix, form in forms.items()}
        if printed:
            made["pdf"] = printed[number]
        for suffix, data in made.items():
            title = f"{capitalised(name)}: {document.title}"
            held = data.encode() if isinstance(data, str) else data
            yield _File(f"{name}.{suffix}", title, held, is_document=True)


def _tables(document: Document) -> Iterator[_File]:
    from replicalab.reports import csv_tables  # noqa: PLC0415 - as above

    for number, (caption, text) in enumerate(csv_tables(document).items(), start=1):
        path = f"tables/{number:02}-{_named(caption) or 'table'}.csv"
        yield _File(path, f"Table of the report: {caption}", text.encode())


def _figures(document: Document) -> Iterator[_File]:
    from replicalab.render.pictures import picture_svg  # noqa: PLC0415 - as above

    for number, picture in enumerate(document.pictures, start=1):
        path = f"figures/{number:02}-{_named(picture.title) or 'figure'}.svg"
        yield _File(path, f"Figure of the report: {picture.title}", picture_svg(picture).encode())


def _named(text: str) -> str:
    """Return a text as a part of a file's name, empty where none of its letters is plain."""
    return _NO_LETTERS.sub("-", text.lower()).strip("-")[:_LONGEST_NAME].strip("-")


# --- its description ----------------------------------------------------------------------------


def _metadata(files: list[_File], options: PlanAnalysis, said: Registration, on: date) -> bytes:
    """Return the description of a crate as JSON-LD: what nobody gave is left out."""
    from rocrate.rocrate import ROCrate  # noqa: PLC0415 - with the first crate alone

    plan, held = options.yours, ROCrate(version=_VERSION)
    paper = plan.pack.paper
    authors = _authors(held, said.authors)
    verdict = plan_verdict(plan)
    described = f"{paper.title}, {lab_text(plan.pack)}: {plan_size(plan)}. {verdict.text}"
    held.root_dataset["name"] = said.title or f"A plan for: {paper.title}"
    held.root_dataset["description"] = described
    held.root_dataset["datePublished"] = on.isoformat()
    if authors:
        held.root_dataset["author"] = authors
    # The format insists on one, and takes a sentence.
    held.root_dataset["license"] = _licence(held, said.licence) if said.licence else _NO_LICENCE
    if paper.citation.strip(" .").casefold() not in ("", NOT_GIVEN):
        held.root_dataset["citation"] = _entity(
            held,
            f"https://doi.org/{paper.doi}" if paper.doi else "#paper",
            "ScholarlyArticle",
            cited(paper),
        )
    for file in files:
        properties: dict[str, object] = {
            "name": file.name,
            "encodingFormat": MIMES[file.path.rpartition(".")[2]],
            "contentSize": str(len(file.data)),
        }
        if file.is_document:
            properties |= {"dateCreated": on.isoformat()} | ({"author": authors} if authors else {})
        held.add_file(io.BytesIO(file.data), file.path, properties=properties)
    made = json.dumps(held.metadata.generate(), ensure_ascii=False, indent=1, sort_keys=True)
    return f"{made}\n".encode()


def _authors(held: ROCrate, said: str) -> list[object]:
    """Return a person for each of the authors; a semicolon stands between two."""
    names = [name.strip() for name in said.split(";") if name.strip()]
    return [
        _entity(held, f"#author-{number}", "Person", name)
        for number, name in enumerate(names, start=1)
    ]


def _licence(held: ROCrate, said: str) -> object:
    return _entity(held, said if _LINK.fullmatch(said) else "#licence", "CreativeWork", said)


def _entity(held: ROCrate, identifier: str, kind: str, name: str) -> object:
    from rocrate.model import ContextEntity  # noqa: PLC0415 - as above

    properties = {"@type": kind, "name": name}
    return held.add(ContextEntity(held, identifier, properties=properties))


# --- packed and opened --------------------------------------------------------------------------


def _packed(files: list[_File], metadata: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in ((_METADATA, metadata), *((file.path, file.data) for file in files)):
            info = zipfile.ZipInfo(path, _PACKED)
            info.external_attr, info.compress_type = _READABLE, zipfile.ZIP_DEFLATED
            archive.writestr(info, data)
    return packed.getvalue()
