"""The front door: the idea in one picture, and a study at a glance in each of its labs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from replicalab.assessment import Assessment, samples_text
from replicalab.lexicon import amount_text, capitalised, joined
from replicalab.models import DIMENSIONS, FIELD_LABELS
from replicalab.panels.drawing import drawn
from replicalab.panels.plan import evidence_bar
from replicalab.planner import Options
from replicalab.planner.steps import differences
from replicalab.scenarios import ScenarioSummary
from replicalab.text.verdicts import evidence_status, lab_line

_FIELDS: Final = {"finance_trading": "Finance"}


def field_name(domain_id: str) -> str:
    """Return what a field of research is called."""
    return _FIELDS.get(domain_id, domain_id.replace("_", " ").capitalize())


def idea_panel(sentence: str, example: Options | None = None, *, level: int = 2) -> str:
    """Return what this is: a sentence, and one plan that a lab checks and cuts, as a picture.

    Args:
        sentence: what this is.
        example: the plan, and what may be done about it; None for the sentence alone.
        level: of the sentence as a heading.
    """
    if example is None:
        return drawn("idea", sentence=sentence, level=level, example=None)
    yours, lab = example.yours, example.yours.pack.lab
    plans = [yours, *([example.offered] if example.offered is not yours else [])]
    evidence = [plan.evidence for plan in plans]
    first = evidence[0]
    cuts = [
        {
            "size": samples_text(plan),
            "bar": evidence_bar(plan.evidence, evidence),
            "status": evidence_status(plan.evidence),
            "number": plan.evidence.number,
        }
        for plan in plans
    ]
    return drawn(
        "idea",
        sentence=sentence,
        level=level,
        example=f"{yours.pack.paper.name}, {yours.pack.difficulty} lab{_changed(yours)}",
        needs=[
            ("Days", amount_text(yours.plan.duration_days), amount_text(lab.days_left)),
            ("Credits", amount_text(yours.cost), amount_text(lab.budget)),
            ("Staff", amount_text(yours.staff), amount_text(lab.staff)),
        ],
        checks=_glyphs(example),
        measure=capitalised(first.measure),
        bounds=f"floor {first.amount(first.floor)}, target {first.amount(first.target)}",
        cuts=cuts,
    )


def _changed(plan: Assessment) -> str:
    """Return in what a plan is not the study's own; empty where it is that."""
    found = differences(plan.pack.reference_protocol, plan.plan)
    names = joined([FIELD_LABELS[each.field].lower() for each in found])
    return f"; {names} already changed" if names else ""


def card_panel(about: ScenarioSummary, labs: Iterable[Options], origin: str = "") -> str:
    """Return a study at a glance: its field, what it teaches, and its reference protocol per lab.

    Args:
        about: the study.
        labs: the reference protocol in each lab.
        origin: whose it is, where it is not on the shelf.
    """
    marks = [field_name(about.domain_id), "contested" if about.contested else "", origin]
    return drawn(
        "card",
        field=" · ".join(filter(None, marks)),
        teaches=about.teaches,
        labs=_labs(labs),
    )


def labs_panel(labs: Iterable[Options]) -> str:
    """Return a reference protocol in each of these labs, a row of seven signs for each."""
    return drawn("labs", labs=_labs(labs))


def legend_panel(number: int, of: int, *, named: bool) -> str:
    """Return how many studies are shown, and how the rows of seven signs are read.

    Args:
        number: how many are shown.
        of: how many there are.
        named: whether the page names the seven dimensions already.
    """
    return drawn("legend", count=f"{number} of {of} studies", names=() if named else DIMENSIONS)


def _labs(labs: Iterable[Options]) -> list[dict[str, object]]:
    return [
        {
            "name": capitalised(lab.yours.pack.difficulty),
            "said": lab_line(lab),
            "glyphs": _glyphs(lab),
        }
        for lab in labs
    ]


def _glyphs(options: Options) -> list[tuple[str, bool]]:
    """Return the seven dimensions, and whether each passes."""
    failing = options.yours.failing
    return [(dimension, dimension not in failing) for dimension in DIMENSIONS]
