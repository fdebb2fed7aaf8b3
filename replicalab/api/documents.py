"""Plans side by side, and what leaves of one: a brief or a report in every form, and the bundle."""

from __future__ import annotations

from datetime import UTC, date, datetime
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from replicalab.api.plans import analysis
from replicalab.api.shown import OneLine, page
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
from replicalab.views.blocks import Document, Paper
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


class Comparison(OneLine, tuple[Side, ...]):
    """Two to four plans side by side, what differs first."""

    def frame(self) -> pd.DataFrame:
        """Return a data frame with a row for each line, and a column for each side."""
        head, *lines = table(self)
        return rows.frame([str(name).lower() for name in head[:2]] + [*map(str, head[2:])], lines)

    def _line(self) -> str:
        return joined([side.name for side in self])

    def _repr_html_(self) -> str:
        return page(comparison_panel(self))


def compare(*plans: Assessment | Negotiation, **named: Assessment | Negotiation) -> Comparison:
    """Return plans side by side, each with the negotiation that opens with it.

    Args:
        plans: what `assess`, `least_loss` and `suggest` return; a negotiation stands there by the
            plan that it came to. They are called plan 1, plan 2 and so on.
        named: the same, by names of your own.

    Raises:
        ValueError: fewer than two, more than four, or two of one name.
        NegotiationError: a negotiation that came to no plan.

    >>> plan = assess(load("psy_stroop"))
    >>> found = compare(published=plan, cheaper=least_loss(plan))
    >>> found.frame().query("what == 'Total'")[["published", "cheaper"]].values.tolist()
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


class Report(OneLine):
    """A brief or a report, in every form.

    Attributes:
        options: the plan that was asked about.
        run: the negotiation that goes along, None for none.
        profile: the registration form that takes the report's place, None for none.
        said: what its author says in it.
    """

    def __init__(
        self,
        options: PlanAnalysis,
        run: Negotiation | None = None,
        *,
        on: date | None = None,
        brief: bool = False,
        funding: bool = False,
        profile: Profile | None = None,
        said: Registration | None = None,
    ) -> None:
        self.options, self.run = options, run
        self.profile, self.said = profile, said
        self._on, self._brief = on or datetime.now(UTC).astimezone().date(), brief
        self._funding = funding

    @property
    def shown(self) -> PlanAnalysis:
        """The plan that it is about: what the negotiation came to."""
        return of_run(self.options, self.run)

    @cached_property
    def document(self) -> Document:
        """What it holds, of which each form is drawn."""
        if self.profile:
            return registration_of(self.profile, self._registered, on=self._on)
        if self._funding:
            return funding_request(self.shown, on=self._on, said=self.said)
        make = views.brief if self._brief else partial(report_of, said=self.said)
        return make(self.shown, on=self._on, written=self._written, run=self.run)

    @property
    def _registered(self) -> Registered:
        return Registered(self.shown, self.said or Registration(), self.run)

    @property
    def _written(self) -> Pack:
        pack = self.options.yours.pack
        return pack_of(pack.study, pack.difficulty, pack.seed)

    def form(self, ending: str, paper: Paper = "A4") -> str | bytes:
        """Return it as the content of a file.

        Args:
            ending: one of ``html``, ``md``, ``pdf``, ``docx``, ``xlsx``; or ``json``: the
                bundle, or a form's answers by its own ids.
            paper: ``A4`` or ``letter``, of PDF and Word.

        Raises:
            ValueError: no such form.
            PrintError: what draws a PDF is not installed.
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
        """Write it to a file in the form that its name ends in, and return where.

        Raises:
            ValueError: its name ends in no form.
            OSError: it cannot be written.
        """
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
    """Return a report that is fit for a preregistration, a page, or a form filled in.

    Args:
        plan: what it is about; a negotiation goes along, and its report is about the plan that it
            came to.
        on: the day that it bears; None is today.
        brief: the brief, one page, in place of the report.
        funding: in its place a page for a funder: the plan, what cuts cost, what the target takes.
        form: the key of a registration form in place of it, such as ``brandt-prereg-2``.
        said: what only whoever registers the plan can say.

    Raises:
        ValueError: no such form, or two of these documents.

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
