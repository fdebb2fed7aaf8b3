"""Opening what is kept: as the workspace, or its lab, or the run, batch or comparison on show."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

import streamlit as st

from replicalab.errors import LibraryFullError
from replicalab.library import Entry, Kept, Kind, read_batch, read_decision, read_plan
from replicalab.scenarios import read_lab
from replicalab.ui import beside, compare, own_studies, state, visitor
from replicalab.ui.batches import BATCHES, Batch
from replicalab.ui.compare import deciding
from replicalab.ui.library.keeping import mark_kept
from replicalab.ui.library.shelf import owner, shelf
from replicalab.ui.library.work import workspace_of
from replicalab.ui.negotiation import files

PROTOCOL: Final = "pages/1_Protocol.py"
_STUDY: Final = "pages/0_Study.py"
_NEGOTIATION: Final = "pages/2_Negotiation.py"


class Opening(NamedTuple):
    """How a kind of entry is opened.

    Attributes:
        opens: opens one.
        page: the page that shows it then.
        action: what the button says.
    """

    opens: Callable[[Kept], None]
    page: str
    action: str = "Open"


def open_entry(entry: Entry) -> str:
    """Open an entry, and return the page that shows it.

    Raises:
        ReplicaLabError: it cannot be opened; nothing has changed.
    """
    row = OPENINGS[entry.kind]
    row.opens(shelf().read(owner(), entry.id))
    return row.page


def _open_plan(kept: Kept) -> None:
    state.open_workspace(workspace_of(read_plan(kept.content)))
    mark_kept(kept.entry)


def _open_lab(kept: Kept) -> None:
    state.suppose(read_lab(kept.content.encode()))
    state.current().version += 1


def _open_study(kept: Kept) -> None:
    study = own_studies.usable_study(kept.content, kept.entry.name)
    if refused := state.bring(kept.content, study):
        raise LibraryFullError(refused)


def _open_run(kept: Kept) -> None:
    files.open_text(kept.content, kept.entry.name)


def _open_batch(kept: Kept) -> None:
    found = Batch.opened(kept.entry.name, read_batch(kept.content))
    if refused := BATCHES.show(visitor.secret(), found):
        raise LibraryFullError(refused)
    st.session_state[compare.TABS] = compare.MANY


def _open_decision(kept: Kept) -> None:
    deciding.open_again(read_decision(kept.content))
    st.session_state[compare.TABS] = compare.BESIDE


OPENINGS: Final[dict[Kind, Opening]] = {
    Kind.PLAN: Opening(_open_plan, PROTOCOL),
    Kind.LAB: Opening(_open_lab, PROTOCOL),
    Kind.STUDY: Opening(_open_study, _STUDY),
    Kind.RUN: Opening(_open_run, _NEGOTIATION),
    Kind.BATCH: Opening(_open_batch, beside.PAGE),
    Kind.DECISION: Opening(_open_decision, beside.PAGE, action="Compare these again"),
}
"""Every kind; what else there is to know of one is in `library.KINDS`."""
