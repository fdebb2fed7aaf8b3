"""The choice of the studies, and of one plan of each, that one lab runs with one budget."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import product
from math import isfinite
from operator import attrgetter
from typing import Any, Final, NamedTuple

from replicalab import lexicon
from replicalab.assessment import Assessment, assess
from replicalab.errors import ArgumentError, Fault, PortfolioError
from replicalab.facts import blocks
from replicalab.facts.blocks import Cell, Column, Group, Heading, Sentence, Status
from replicalab.facts.frontier_facts import given_up_text
from replicalab.facts.plan_facts import cautions_sentence
from replicalab.facts.verdicts import FIDELITY_MEANS, evidence_status
from replicalab.features.portfolio.programme import LabMeans, PlanOption, best, undominated
from replicalab.lexicon import amount_text
from replicalab.models import Dimension
from replicalab.planner.sample_limits import TIER_RANK, CountLimits, EvidenceCurve, most_looked_at
from replicalab.planner.variants import variants_of
from replicalab.scenarios import MOST, EvidenceTier, Lab, Pack
from replicalab.scenarios.reading import checked_call, shown
from replicalab.tables import frame

MAX_STUDIES: Final = 60
UNIT: Final = 1_000_000  # credits and worth are counted in whole millionths


@dataclass(frozen=True)
class PortfolioStudy:
    """A study in the lab, with the worth of its target and the share for only its floor."""

    pack: Pack
    worth: float = 1.0
    floor_share: float = 0.0

    def __post_init__(self) -> None:
        name = f"'{lexicon.shortened(self.pack.paper.name)}'"
        for label, number, limit, example in (
            ("worth of", self.worth, MOST, 2),
            ("share at the floor of", self.floor_share, 1, 0.5),
        ):
            if not (isfinite(number) and 0 <= number <= limit):
                problem = f"{label} {name}: {number:g} is no number from 0 to {limit:,}"
                raise PortfolioError(f"{problem}; write one such as {example}, or 0")

    def counts(self, tier: EvidenceTier) -> float:
        shares = {EvidenceTier.MEETS_TARGET: 1.0, EvidenceTier.ABOVE_FLOOR: self.floor_share}
        return self.worth * shares.get(tier, 0.0)


class LabPlans(NamedTuple):
    """The plans of a study; ``exact`` is False if some may be missing."""

    plans: Mapping[PlanOption, Assessment]
    exact: bool


def plans_of(candidate: PortfolioStudy) -> LabPlans:
    """Return the undominated plans of a study, whatever they cost.

    For each variant of the study's protocol these are the plans that reach the target, or the
    floor, with the fewest samples and days, on the first day or after a booking ends.
    """
    plans, exact = dict[PlanOption, Assessment](), True
    tiers = [tier for tier in EvidenceTier if whole(candidate.counts(tier))]
    in_lab, lab = candidate.pack, candidate.pack.lab
    ends = {in_lab.inventory.booked_until(item) for item in in_lab.known_items}
    later = {until + 1 for until in ends if until is not None and until < lab.days}
    for first in sorted({lab.start_day, *later}) if tiers else ():
        pack = in_lab.in_lab(lab.with_means(start_day=first))
        limits = CountLimits(pack, frozenset({Dimension.BUDGET}))
        if limits.endpoint_lost:
            break
        reference = assess(pack.reference_protocol, pack)
        variants = variants_of(reference, by_instruments=True)
        exact = exact and variants.exact
        curve = EvidenceCurve(pack, most_looked_at(reference.plan))
        for variant, tier in product(variants.listed, tiers):
            allowed = curve.allowed(variant.factor)
            needed = curve.needed(TIER_RANK[tier], variant.factor)
            if variant.failing or allowed is None or needed is None:
                continue
            counts = limits.fewest(variant.counts(reference.counts), max(needed, allowed))
            if not limits.allows(counts):
                continue
            numbers = {"sample_size": int(counts.samples), "duration_days": int(counts.days)}
            plan = assess(variant.applied_to(reference.plan, **numbers), pack)
            if {*plan.failing} - {Dimension.BUDGET}:
                continue
            option = PlanOption(
                worth=whole(candidate.counts(plan.evidence.tier)),
                loss=plan.fidelity_loss,
                credits=whole(plan.cost),
                days=plan.counts.days,
                staff=plan.staff,
                instruments=frozenset(map(lexicon.label_key, plan.plan.required_equipment)),
                first=first,
            )
            plans.setdefault(option, plan)
    return LabPlans({option: plans[option] for option in undominated(plans)}, exact)


def whole(amount: float) -> int:
    """Return an amount in whole millionths."""
    return round(amount * UNIT)


@dataclass(frozen=True)
class ChosenStudy:
    """A chosen study: its place among the candidates, and its plan from its first day."""

    place: int
    plan: Assessment
    first: int
    last: int
    worth: float


class OmissionReason(StrEnum):
    """Why a study is left out."""

    EVIDENCE = "No plan that counts fits this lab, whatever the budget."
    CREDITS = "Its cheapest plan needs {short} than the others, as chosen, leave."
    TIME = "The others leave no days on which staff and equipment are free for it."


class LeftOut(NamedTuple):
    """A study that is not run; its cheapest plan lacks ``credits``."""

    place: int
    lacking: OmissionReason
    credits: float = 0.0

    def text(self, currency: str) -> str:
        """Return why it is not run."""
        return self.lacking.format(short=lexicon.money_text(self.credits, currency, "more"))


@dataclass(frozen=True)
class Portfolio:
    """The studies that one lab runs with one budget; no choice is worth more than ``most``."""

    candidates: tuple[PortfolioStudy, ...]
    chosen: tuple[ChosenStudy, ...]
    left_out: tuple[LeftOut, ...]
    budget: float
    most: float
    exact: bool

    def _repr_html_(self) -> str:
        from replicalab.render.html import html, in_notebook  # noqa: PLC0415 - Jinja2

        return in_notebook(html(portfolio_panel(self)))

    def frame(self) -> Any:
        """Return the chosen studies as a pandas data frame."""
        return frame(FIELDS, map(row_of, self.chosen))

    @property
    def worth(self) -> float:
        return sum(whole(study.worth) for study in self.chosen) / UNIT

    @property
    def credits(self) -> float:
        return sum(whole(study.plan.cost) for study in self.chosen) / UNIT

    @property
    def loss(self) -> int:
        return sum(study.plan.fidelity_loss for study in self.chosen)

    @property
    def last(self) -> int:
        """The last day of work; 0 without any."""
        return max((study.last for study in self.chosen), default=0)

    @property
    def currency(self) -> str:
        return self.candidates[0].pack.lab.currency if self.candidates else lexicon.CREDITS


@checked_call
def portfolio(
    packs: Iterable[Pack], *, worth: Mapping[str, float] | None = None, floor_share: float = 0.0
) -> Portfolio:
    """Return the studies, with a plan each, that are worth the most in one lab.

    The labs of the studies have the same budget, days and staff. A study that meets its target
    counts its worth, 1 by default; one that only reaches its floor the given share of it.

    >>> from replicalab import load, portfolio
    >>> lab = {"budget": 2500, "days": 12, "staff": 4}
    >>> names = "psy_stroop", "ml_rl_seeds", "chem_suzuki_ppb"
    >>> found = portfolio(load(name, own=lab) for name in names)
    >>> [(study.plan.pack.scenario_id, study.first, study.last) for study in found.chosen]
    [('psy_stroop', 2, 2), ('chem_suzuki_ppb', 3, 5)]
    >>> found.left_out[0].credits, found.exact
    (235.0, True)
    """
    candidates, worths = list(packs), worth or {}
    ids = [pack.scenario_id for pack in candidates]
    if unknown := [name for name in worths if name not in ids]:
        problem, remedy = f"{shown(unknown[0])} is not allowed", f"use {lexicon.joined(ids, 'or')}"
        raise ArgumentError("portfolio", [Fault("worth", problem, remedy)])
    return portfolio_of(
        PortfolioStudy(pack, worths.get(pack.scenario_id, 1.0), floor_share) for pack in candidates
    )


def portfolio_of(candidates: Iterable[PortfolioStudy]) -> Portfolio:
    """Return the studies, and a plan of each, that are worth the most in one lab.

    Ties go to the least fidelity loss, then the fewest credits; the chosen plans end early.
    """
    studies = tuple(candidates)
    if len(studies) > MAX_STUDIES:
        raise PortfolioError(f"{len(studies):,} studies are named; name {MAX_STUDIES} at most")
    means = _shared_means([study.pack.lab for study in studies])
    plans = tuple(map(plans_of, studies))
    is_complete = all(listed.exact for listed in plans)
    choice = best([[*listed.plans] for listed in plans], means)
    chosen = []
    for at, (option, start) in choice.plans.items():
        pack = studies[at].pack
        started = pack.in_lab(pack.lab.with_means(start_day=start))
        plan = assess(plans[at].plans[option].plan, started)
        end, counted = start + plan.counts.days - 1, studies[at].counts(plan.evidence.tier)
        chosen.append(ChosenStudy(at, plan, start, end, counted))
    left_out, spent = [], sum(option.credits for option, _ in choice.plans.values())
    for at, (listed, _) in enumerate(plans):
        if at not in choice.plans:
            cheapest = min((option.credits for option in listed), default=0)
            short = max(0, cheapest + spent - means.credits) / UNIT
            reason = OmissionReason.CREDITS if short else OmissionReason.TIME
            left_out.append(LeftOut(at, reason if listed else OmissionReason.EVIDENCE, short))
    worth = sum(study.worth for study in studies)
    return Portfolio(
        candidates=studies,
        chosen=tuple(sorted(chosen, key=lambda study: (study.first, study.last, study.place))),
        left_out=tuple(left_out),
        budget=means.credits / UNIT,
        most=min(worth, choice.most / UNIT) if is_complete else worth,
        exact=choice.exact and is_complete,
    )


def _shared_means(labs: Sequence[Lab]) -> LabMeans:
    for name in ("budget", "days", "staff", "start_day", "currency"):
        values = list(dict.fromkeys(getattr(lab, name) for lab in labs))
        if len(values) > 1:
            first, other, *_ = (v if isinstance(v, str) else amount_text(v) for v in values)
            problem = f"the {name.replace('_', ' ')} of the lab: the studies' labs have {first}"
            raise PortfolioError(f"{problem} and {other}; give the one that they share")
    if not labs:
        return LabMeans(0, 1, 0, 0)
    lab = labs[0]
    return LabMeans(int(lab.budget * UNIT + 1e-3), lab.start_day, lab.days, lab.staff)


TITLE: Final = "One budget for several studies"
LEFT_OUT: Final = "Left out"
NOTE: Final = (
    "Order: most worth, then least given up, then lowest cost. The chosen plans then end early. "
    "Studies share the staff of a day; an item of equipment serves one study at a time."
)


_FIELDS: Final[Mapping[str, tuple[str, str]]] = {
    "id": ("plan.pack.scenario_id", ""),
    "study": ("plan.pack.paper.name", ""),
    "samples": ("plan.counts.samples", "Samples"),
    "days": ("plan.counts.days", "Days"),
    "first_day": ("first", "Starts"),
    "last_day": ("last", "Ends"),
    "staff": ("plan.staff", "Staff"),
    "credits": ("plan.cost", "Cost"),
    "measure": ("plan.evidence.measure", ""),
    "evidence": ("plan.evidence.value", ""),
    "tier": ("plan.evidence.tier", ""),
    "fidelity_loss": ("plan.fidelity_loss", "Given up"),
    "worth": ("worth", "Worth"),
}  # the place of a field's value, and its heading if pages show it
FIELDS: Final = tuple(_FIELDS)


def row_of(study: ChosenStudy) -> dict[str, str | float]:
    """Return the plan of a study and its days, by `FIELDS`."""
    row = {name: attrgetter(place)(study) for name, (place, _) in _FIELDS.items()}
    return {**row, "tier": str(study.plan.evidence.tier)}


def portfolio_panel(
    portfolio: Portfolio, links: Sequence[str] = (), origins: Sequence[str] = (), level: int = 3
) -> Group:
    """Return the chosen studies, a row each, and the others with the reason.

    ``links`` are the addresses of the chosen plans, ``origins`` the owners of all candidates.
    """
    titles = [candidate.pack.paper.name for candidate in portfolio.candidates]
    repeated = [titles[: at + 1].count(title) for at, title in enumerate(titles)]
    names = [f"{t} ({n})" if n > 1 else t for t, n in zip(titles, repeated, strict=True)]
    left_out = [(names[out.place], out.text(portfolio.currency)) for out in portfolio.left_out]
    budget = lexicon.money_text(portfolio.budget, portfolio.currency)
    rest = f"none can be run for {budget} in this lab."
    if chosen := portfolio.chosen:
        days = f"from day {chosen[0].first} to day {amount_text(portfolio.last)}"
        lab = chosen[0].plan.pack.lab
        rest = f"{amount_text(portfolio.credits)} of {budget}, {days} of {lab.days:,}."
    count = f"{len(chosen)} of {lexicon.count_text(len(names), 'study')}"
    summary = f"{count}, worth {amount_text(portfolio.worth)}: {rest}"
    proof = Sentence("No other choice of studies and plans is better.", quiet=True)
    if not portfolio.exact:
        bound = f"no choice is worth more than {amount_text(portfolio.most)}."
        proof = Sentence(f"Best found so far; {bound}", status=Status.CAUTION, quiet=True)
    return blocks.group(
        Heading(TITLE, level),
        Sentence(summary if names else "No study is chosen from; name one."),
        proof,
        _table(portfolio, names, links, origins) if chosen else None,
        Heading(LEFT_OUT, level + 1) if left_out else None,
        blocks.table(LEFT_OUT, ("Study", "Why"), left_out, kind="plain"),
        Sentence(NOTE, quiet=True),
    )


def _table(
    portfolio: Portfolio, names: Sequence[str], links: Sequence[str], origins: Sequence[str]
) -> blocks.Table:
    headings = {name: heading for name, (_, heading) in _FIELDS.items() if heading}
    headings["credits"] = lexicon.capitalised(portfolio.currency)
    columns = [Column("Study"), Column("Evidence")]
    for name, heading in headings.items():
        meaning = FIDELITY_MEANS if name == "fidelity_loss" else ""
        columns.append(Column(heading, "number", meaning=meaning))
    rows = []
    for at, study in enumerate(portfolio.chosen):
        plan, values = study.plan, row_of(study)
        broken = Sentence(cautions_sentence(plan), plan.cautions_title, Status.CAUTION)
        note = origins[study.place] if origins else ""
        cells = {name: Cell(amount_text(float(values[name]))) for name in headings}
        if plan.fidelity_loss:
            more = Sentence(given_up_text(plan))
            cells["fidelity_loss"] = cells["fidelity_loss"]._replace(more=more)
        evidence = Cell(
            plan.evidence.text,
            status=evidence_status(plan.evidence),
            note=str(plan.evidence.tier),
            more=broken if broken.lead else None,
        )
        title = Cell(names[study.place], note=note, link=links[at] if links else "")
        rows.append((title, evidence, *cells.values()))
    return blocks.table("The studies that are run", columns, rows, kind="survey", scrolls=True)
