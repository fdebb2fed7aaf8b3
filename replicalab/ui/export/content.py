"""What is handed over: the plan in its lab as it stands now, and the negotiation on show."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from typing import Final

from replicalab.errors import NegotiationError, TraceError
from replicalab.negotiation import Negotiation, Recording
from replicalab.planner import PlanAnalysis
from replicalab.registration import Registration
from replicalab.reports import Document, brief, bundle, funding_request, of_run, report
from replicalab.scenarios import Pack
from replicalab.ui import state
from replicalab.ui.library.keeping import note_of
from replicalab.ui.negotiation import files, model, table

_NO_LETTERS: Final = re.compile(r"[^a-z0-9]+")
_LONGEST: Final = 60


@dataclass(frozen=True)
class ExportContent:
    """What a workspace holds, apart from the session: a file is made of it in another thread.

    Attributes:
        options: the plan in its lab, and what may be done about it.
        written: the same study in its lab as their author wrote both.
        run: the negotiation on show, None for none.
        recording: what is known of its language model, None where nothing is.
        decision: the note of the saved plan; empty if another plan is open.
        on: the day.
    """

    options: PlanAnalysis
    written: Pack
    run: Negotiation | None
    recording: Recording | None
    decision: str
    on: date

    def for_document(self, *, negotiated: bool) -> ExportContent:
        """Return what a document is about: the plan, or the negotiation and the plan it came to."""
        if not negotiated:
            return replace(self, run=None)
        options = of_run(self.options, self.run)
        return replace(self, options=options, decision=note_of(options.yours))

    def brief(self) -> Document:
        """Return the brief."""
        return brief(
            self.options,
            on=self.on,
            written=self.written,
            run=self.run,
            decision=self.decision,
        )

    def funding(self, said: Registration) -> Document:
        """Return the funding request, with its authors."""
        return funding_request(self.options, on=self.on, said=said)

    def report(self, said: Registration) -> Document:
        """Return the report, with what is said by hand."""
        return report(
            self.options,
            on=self.on,
            written=self.written,
            run=self.run,
            said=said,
        )

    def bundle(self) -> str:
        """Return all of it as one file."""
        return bundle(self.options, self.written, self.run, self.recording)

    def name(self, what: str, suffix: str, title: str = "") -> str:
        """Return what a file is called, after its title if it has one."""
        pack = self.options.yours.pack
        return file_name(f"{title or f'{pack.scenario_id} {pack.difficulty}'} {what}", suffix)


def export_content() -> ExportContent:
    """Return what is on the screen."""
    analysis = state.analysis()
    run, recording = _negotiated(analysis)
    decision, today = note_of(analysis.yours), datetime.now(UTC).astimezone().date()
    return ExportContent(analysis, state.written(), run, recording, decision, today)


def _negotiated(analysis: PlanAnalysis) -> tuple[Negotiation | None, Recording | None]:
    """Return the negotiation on show, if it is of this lab and has begun."""
    try:
        kept = table.current(analysis.yours, model.seated_model())
    except (NegotiationError, TraceError):
        return None, None
    run = kept.negotiation
    if not (run.rounds and run.pack == analysis.yours.pack):
        return None, None
    return run, kept.recording or files.recording_of(kept)


def file_name(text: str, suffix: str) -> str:
    """Return a text as the name of a file: plain letters, digits and hyphens, and its ending."""
    plain = _NO_LETTERS.sub("-", text.lower()).strip("-")[:_LONGEST].strip("-")
    return f"{plain or 'replicalab'}.{suffix}"
