"""Plans side by side, and what leaves of one: a brief or a report in every form, and the bundle."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from datetime import UTC, date, datetime
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from replicalab.api.plans import analysis
from replicalab.api.shown import Shown
from replicalab.assessment import Assessment, assess
from replicalab.case import MOST_SIDES
from replicalab.comparison import FEWEST_SIDES, Side, negotiated, side_of_run
from replicalab.documents import FORMS
from replicalab.lexicon import joined
from replicalab.negotiation import Negotiation
from replicalab.planner import PlanAnalysis
from replicalab.registration import PROFILES, Profile, Registration
from replicalab.scenarios import Pack, pack_of
from replicalab.tables import rows
from replicalab.views import documents as views
from replicalab.views.blocks import Block, Document, Paper
from replicalab.views.comparison import comparison_panel, table
from replicalab.views.documents import of_run
from replicalab.views.funding import funding_request
from replicalab.views.registered import Registered
from replicalab.views.registration import registration as registration_of
from replicalab.views.registration import registry_text
from replicalab.views.report import report as report_of

if TYPE_CHECKING:
    import pandas as pd

BUNDLE: Final = "json"
ENDINGS: Final = (*FORMS, BUNDLE)
"""As what a report is saved, by the ending of its name. JSON is the bundle."""


class Comparison(Shown, tuple[Side, ...]):
    """Two to four plans side by side, what differs first."""

    def frame(self) -> pd.DataFrame:
        """Return a data frame with a row for each line, and a column for each side."""
        head, *lines = table(self)
        return rows.frame([str(name).lower() for name in head[:2]] + [*map(str, head[2:])], lines)

    def _line(self) -> str:
        return joined([side.name for side in self])

    def _blocks(self) -> tuple[Block, ...]:
        return (comparison_panel(self),)


def compare(*plans: Assessment | Negotiation, **named: Assessment | Negotiation) -> Comparison:
    """Return two to four plans side by side; a negotiation counts with its final plan.

    >>> plan = assess(load("psy_stroop"))
    >>> sides = compare(published=plan, cheaper=least_loss(plan))
    >>> sides.frame().query("what == 'Total'")[["published", "cheaper"]].values.tolist()
    [[1600.0, 600.0]]
    """
    numbered = {f"plan {at}": each for at, each in enumerate(plans, start=1)}
    for twice in numbered.keys() & named.keys():
        raise ValueError(f"two plans are called '{twice}'; call one otherwise")
    sides = {**numbered, **named}
    if not FEWEST_SIDES <= len(sides) <= MOST_SIDES:
        few = f"name {FEWEST_SIDES} to {MOST_SIDES}"
        raise ValueError(f"{len(sides)} plans are to be compared; {few}")
    return Comparison(
        side_of_run(name, each)
        if isinstance(each, Negotiation)
        else Side(name, each, negotiated(each))
        for name, each in sides.items()
    )


@dataclass(repr=False, eq=False)
class Report(Shown):
    """A brief, a report, a funding request or a registration form of a plan."""

    options: PlanAnalysis
    run: Negotiation | None = None
    _: KW_ONLY
    on: date | None = None
    brief: bool = False
    funding: bool = False
    profile: Profile | None = None
    said: Registration | None = None

    @property
    def shown(self) -> PlanAnalysis:
        """The plan of the document; with a negotiation, its final plan."""
        return of_run(self.options, self.run)

    @cached_property
    def document(self) -> Document:
        """Its content, as blocks."""
        on = self.on or datetime.now(UTC).astimezone().date()
        if self.profile:
            return registration_of(self.profile, self._registered, on=on)
        if self.funding:
            return funding_request(self.shown, on=on, said=self.said)
        make = views.brief if self.brief else partial(report_of, said=self.said)
        return make(self.shown, on=on, written=self._written, run=self.run)

    @property
    def _registered(self) -> Registered:
        return Registered(self.shown, self.said or Registration(), self.run)

    @property
    def _written(self) -> Pack:
        pack = self.options.yours.pack
        return pack_of(pack.study, pack.difficulty, pack.seed)

    def form(self, ending: str, paper: Paper = "A4") -> str | bytes:
        """Return the content of a file: ``html``, ``md``, ``pdf``, ``docx``, ``xlsx`` or ``json``.

        JSON is the bundle, or the answers of a registration form by its own ids.
        """
        if ending == BUNDLE and self.profile:
            return registry_text(self.profile, self._registered)
        if ending == BUNDLE:
            from replicalab.reports import bundle  # noqa: PLC0415 - Jinja2, with the first document

            return bundle(self.options, self._written, self.run)
        if ending not in FORMS:
            raise ValueError(f"form '{ending}' is unknown; known: {', '.join(ENDINGS)}")
        return FORMS[ending].make(self.document, paper)

    def save(self, path: str | Path, paper: Paper = "A4") -> Path:
        """Write a file in the form that its name ends in, and return its path."""
        to = Path(path)
        held = self.form(to.suffix.lower().removeprefix("."), paper)
        to.write_bytes(held.encode() if isinstance(held, str) else held)
        return to

    def _line(self) -> str:
        return f"{self.document.title}: {self.document.about}"

    def _repr_html_(self) -> str:
        from replicalab.render.html import document_in_notebook  # noqa: PLC0415 - as above

        return document_in_notebook(self.document)


def report(
    plan: Assessment | Negotiation,
    *,
    on: date | None = None,
    brief: bool = False,
    funding: bool = False,
    form: str | None = None,
    said: Registration | None = None,
) -> Report:
    """Return a report for a preregistration, or another document in its place.

    Args:
        plan: an assessment, or a negotiation with its final plan.
        on: the date of the document; today by default.
        brief: a one-page brief instead.
        funding: a page for a funder instead.
        form: the key of a registration form instead, such as ``brandt-prereg-2``.
        said: the author's answers.

    >>> found = report(assess(load("psy_stroop")), on=date(2026, 1, 31), brief=True)
    >>> print(found.form("md").splitlines()[2])
    Brief · medium lab · 31 January 2026
    >>> report(assess(load("phys_millikan")), on=date(2026, 1, 31), funding=True).document.title
    'Give 155 more credits: half-width ±1.496 % instead of ±1.72 %.'
    """
    if form is not None and form not in PROFILES:
        raise ValueError(f"form '{form}' is unknown; known: {', '.join(PROFILES)}")
    if brief + funding + (form is not None) > 1:
        raise ValueError("brief, funding and form are each another document; ask for one")
    profile = PROFILES[form] if form else None
    run = plan if isinstance(plan, Negotiation) else None
    opening = _opening(plan) if isinstance(plan, Negotiation) else plan
    return Report(
        *(analysis(opening), run), on=on, brief=brief, funding=funding, profile=profile, said=said
    )


def _opening(run: Negotiation) -> Assessment:
    """Return the plan with which a negotiation opens; the study's own where it has none."""
    first = run.rounds[0].plan if run.rounds else None
    return first or assess(run.pack.reference_protocol, run.pack)
