"""Saved cases and drafts: the workspace as the library stores it, and back.

A draft is a browser's last unsaved state. A workspace that is too long for a link is read from its
draft: ``draft`` of the address names the tab that wrote it, and the parts to read from it.
"""

import re
import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Final, NamedTuple

from pydantic import ValidationError

from replicalab import documents, errors, lexicon, library, limits, negotiation, scenarios, server
from replicalab.facts.lab_facts import lab_text
from replicalab.negotiation.case import Case, DraftCase, read_case, read_draft, record_text
from replicalab.scenarios.reading import Values
from replicalab.ui import own_studies, workspace
from replicalab.ui.library_page.shelf import later, owner, shelf

_DRAFT: Final = "draft"  # key of an address: the draft of its tab
_ENTRY: Final = "kept"  # key of an address: the saved entry and its version
_DRAFT_NAME: Final = re.compile(r"([0-9a-f]{12})\.([sw]{1,2})")
_ENTRY_NAME: Final = re.compile(r"([0-9a-f]{32})\.([0-9]{1,6})")
_STUDY: Final = "s"  # the draft has the study's file
_WHOLE: Final = "w"  # the draft has the whole workspace
_SOON, _LATER = 0.3, 2.0  # seconds until a draft is saved; soon if the address needs it


def case_to_save(case: Case) -> Case:
    """Return a case to save, with the file of a visitor's own study."""
    return case.replace(own=None, text=own_studies.text_of(case.own))


def case_to_open(saved: Case) -> Case:
    """Return a saved case to open, with its own study added to this visitor's.

    Raises LibraryError or ScenarioError if it cannot be shown or its study cannot be used.
    """
    for fault in workspace.not_shown(saved):
        raise errors.LibraryContentError(fault.text)
    study = saved.own_study()
    own_key = own_studies.find_or_add(saved.text, study) if study else None
    case = saved.replace(own=own_key, text="")
    case.pack(own_studies.find)
    return case


def case_of_run(setup: negotiation.Setup, now: Case) -> Case:
    """Return the case of a negotiation from a file; ``now`` is the open case."""
    same = now.study == setup.scenario_id
    case = Case.of_run(
        setup,
        own=now.own if same else own_studies.key_of(setup.scenario_id),
        plan=now.plan if same else None,
        scientist=now.scientist,
    )
    for fault in workspace.not_shown(case):
        raise errors.TraceError(f"setup.{fault.text}")
    return case


def current_bundle(values: Values, file: str) -> documents.OpenedBundle:
    """Return a bundle, with the current version of its study if that is on the shelf."""
    bundle = documents.open_bundle(values, file)
    saved = bundle.written.study
    now = own_studies.on_the_shelf(saved.scenario_id)
    if now is None or now == saved:
        return bundle
    return documents.open_bundle({**values, "study": now.model_dump(mode="json")}, file)


def bundled_case(bundle: documents.OpenedBundle, file: str) -> Case:
    """Return the case of a bundle, with the study's file unless that is on the shelf."""
    study = bundle.written.study
    text = "" if own_studies.is_on_the_shelf(study, file) else scenarios.study_yaml(study)
    return bundle.case.replace(text=text)


def name_of(plan: Case) -> str:
    try:
        pack = plan.pack()
    except errors.ScenarioError:
        return plan.study
    samples = (plan.plan or pack.reference_protocol).sample_size
    end = f" · {lab_text(pack)} · n {samples:,}"
    return pack.paper.name[: limits.LONGEST_ENTRY_NAME - len(end)] + end


def is_work(case: Case) -> bool:
    """Return whether a case differs from the study as its author wrote it."""
    unchanged = (scenarios.LabOverrides(), scenarios.EvidenceAssumptions())
    return bool(case.plan or case.moves) or (case.own_lab, case.question) != unchanged


@dataclass
class SaveNotice:
    """The result of a save."""

    entry: library.Entry | None = None
    text: str = ""
    problem: str = ""
    newer: library.StoredVersion | None = None  # saved by another tab meanwhile
    content: str = ""  # not saved
    page: str = ""  # that showed the notice first


@dataclass
class Tab:
    """A tab of a browser, and its draft and entry in the library."""

    place: str = field(default_factory=partial(secrets.token_hex, 6))  # its name in the draft
    saved: datetime | None = None
    seen: workspace.Workspace | None = None  # by `note`
    done: tuple[Case, tuple[workspace.TrayCase, ...]] | None = None  # in the draft
    entry: tuple[str, int] | None = None  # and its version
    problem: str = ""


def names_of(tab: Tab, work: workspace.Workspace, *, is_whole: bool) -> dict[str, str]:
    """Return the names of a tab's draft and entry; ``is_whole`` if the address carries all."""
    letters = (_STUDY if work.case.own else "") + ("" if is_whole else _WHOLE)
    draft = {_DRAFT: f"{tab.place}.{letters}"} if letters else {}
    return draft | ({_ENTRY: f"{tab.entry[0]}.{tab.entry[1]}"} if tab.entry else {})


def read(query: Mapping[str, str], tab: Tab) -> workspace.LinkReading:
    """Return the workspace of an address, from its draft if the address cannot carry it."""
    entry = _ENTRY_NAME.fullmatch(query.get(_ENTRY, ""))
    tab.entry = (entry[1], int(entry[2])) if entry else None
    work, problems = workspace.from_query(query, own_studies.find)
    draft_name = _DRAFT_NAME.fullmatch(query.get(_DRAFT, ""))
    if draft_name is None:
        return workspace.LinkReading(work, problems)
    tab.place, letters = draft_name.groups()
    draft, reason = None, "ask the sender for a bundle"
    try:
        if stored := _stored(tab.place, owner()):
            draft, tab.saved = read_draft(stored.content), stored.saved
    except errors.LibraryError as error:
        reason = str(error)
    if problems and draft and draft.text and _STUDY in letters:
        with suppress(errors.ReplicaLabError):  # the link then says that its study is missing
            study = draft.own_study()
            own_key = own_studies.find_or_add(draft.text, study) if study else None
            again = {**query, "own": own_key or query.get("own", "")}
            work, problems = workspace.from_query(again, own_studies.find)
    if _WHOLE in letters and not problems:
        if draft is None or draft.study != work.case.study:
            problems.append(f"This workspace is too long for a link: {reason}.")
        else:
            work = from_draft(draft, work, problems) or work
        if problems:  # keep this draft for when it can be used again
            tab.place, tab.saved = Tab().place, None
    return workspace.LinkReading(work, problems)


def from_draft(
    draft: DraftCase, work: workspace.Workspace, problems: list[str]
) -> workspace.Workspace | None:
    """Return ``work`` with a draft's case and tray, and note each part that cannot be used."""
    try:
        case = case_to_open(draft.case)
    except (errors.LibraryError, errors.ScenarioError) as error:
        problems.append(f"The draft cannot be used: {error}.")
        return None
    tray = []
    for name, text in draft.beside:
        try:
            saved = workspace.TrayCase.model_validate_json(text)
            saved.case.pack(own_studies.find)
            tray.append(saved)
        except (ValidationError, errors.ScenarioError) as bad:
            reason = (
                bad.faults[0].problem if isinstance(bad, errors.ScenarioError) else "unreadable"
            )
            problems.append(f"comparison, {lexicon.shortened(name)}: {reason}; it is left out.")
    return work.replace(case=case, tray=tuple(tray))


def _stored(place: str, visitor: library.Owner) -> library.StoredDraft | None:
    draft = shelf().draft(visitor)
    return draft if draft and draft.place == place else None


def discard(place: str, visitor: library.Owner) -> None:
    """Remove the draft of a tab; another tab's draft stays."""
    if _stored(place, visitor):
        shelf().discard_draft(visitor)


class DraftOffer(NamedTuple):
    """A draft that the visitor may continue, and its name."""

    draft: library.StoredDraft
    plan: DraftCase
    name: str


def latest_draft() -> DraftOffer | None:
    """Return this visitor's draft; None if missing or unreadable."""
    with suppress(errors.LibraryError):
        draft = shelf().draft(owner())
        if draft and not draft.problem:
            plan = read_draft(draft.content)
            return DraftOffer(draft, plan, name_of(plan))
    return None


def note(tab: Tab, work: workspace.Workspace, *, soon: bool) -> None:
    """Save a tab's workspace after a pause, in the background."""
    if work is tab.seen:
        return
    tab.seen = work
    if not server.is_lasting():
        no_cookies = "this browser takes no cookies, so the draft could not be found again"
        tab.problem = server.DEMO_TEXT if server.is_demo() else no_cookies
        return
    visitor = owner()
    save = partial(_save, tab, visitor, work, case_to_save(work.case))
    # A place comes from an address and may be another visitor's, so the name has the owner too.
    later(f"draft {tab.place} of {visitor.digest}", save, _SOON if soon else _LATER)


def leave_tab(tab: Tab, case: Case) -> Tab:
    """Return the tab in which another case opens; unsaved work stays in its draft."""
    if not is_work(case) or _is_saved(tab, owner(), case_to_save(case)):
        return tab
    return Tab(entry=tab.entry)


def _is_saved(tab: Tab, visitor: library.Owner, saved: Case) -> bool:
    if tab.entry is None:
        return False
    try:
        stored = shelf().read(visitor, *tab.entry)
        return stored.entry.deleted is None and read_case(stored.content) == saved
    except errors.LibraryError:
        return False


def _save(tab: Tab, visitor: library.Owner, work: workspace.Workspace, saved: Case) -> None:
    case = work.case
    if case.own and not saved.text:
        return  # the study is missing; the page asks for its file
    try:
        if not work.tray and (not (is_work(case) or case.own) or _is_saved(tab, visitor, saved)):
            discard(tab.place, visitor)
            tab.saved = tab.done = None
        elif (case, work.tray) != tab.done:
            tray = [(item.name, item.model_dump_json(exclude_defaults=True)) for item in work.tray]
            draft = DraftCase(**dict(saved), beside=tuple(tray))
            tab.place, tab.saved = _put(tab, visitor, record_text(draft))
            tab.done = case, work.tray
    except errors.LibraryError as error:
        tab.problem = str(error)
        raise
    tab.problem = ""


def _put(tab: Tab, visitor: library.Owner, content: str) -> tuple[str, datetime]:
    # A reloaded page continues its draft, in a new place if another tab continued it too.
    place, last = tab.place, shelf().draft(visitor)
    if tab.saved is None and last is not None and last.content == content:
        return last.place, last.saved
    if last is not None and last.place == place and last.saved != tab.saved:
        place = Tab().place
    return place, shelf().save_draft(visitor, content, place).saved
