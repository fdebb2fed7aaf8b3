"""The questions of a reviewer: a row for each, in the order in which a design is read.

In the manner of the Experimental Design Assistant of the NC3Rs (Percie du Sert et al., 2017, PLOS
Biology 15, e2003779). A question is asked where it applies; nothing is answered in anybody's place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from replicalab.assessment import Assessment
from replicalab.designs import KINDS
from replicalab.features.critique import conduct, planned
from replicalab.features.critique.remarks import Judged, Place, Remark, RemarkStanding, Reviewed
from replicalab.registration import QUESTIONS as FORM_QUESTIONS
from replicalab.registration import Registration

PROTOCOL: Final = "Protocol"  # The page on which a plan is edited, as places name it
_ASSUMPTIONS: Final = "Assumptions"


def _form(key: str) -> Place:
    """Return the place of a question of registration forms."""
    return Place("Share, Registration", FORM_QUESTIONS[key].label)


def _assumption(name: str) -> Place:
    return Place(PROTOCOL, f"{_ASSUMPTIONS}, {name}")


def _always(_: Reviewed) -> bool:
    return True


def _is_sampled(of: Reviewed) -> bool:
    return KINDS[of.design.kind].effect is not None


def _is_test(of: Reviewed) -> bool:
    return of.is_test


def _has_evidence(of: Reviewed) -> bool:
    return of.plan.evidence.void_reason is None


class ReviewQuestion(NamedTuple):
    """A question of a reviewer.

    Attributes:
        key: its name in files.
        asks: the question, for people.
        place: where it is mended.
        judge: where it stands, of a plan.
        applies: whether a reviewer would ask it of a plan.
    """

    key: str
    asks: str
    place: Place
    judge: Callable[[Reviewed], Judged]
    applies: Callable[[Reviewed], bool] = _always


_ROWS: Final = (
    # units and their allocation
    ReviewQuestion(
        "unit",
        "What is the experimental unit, and is each sample one?",
        _assumption("Units and arms"),
        planned.unit,
        lambda of: "units" in of.kind.optional,
    ),
    ReviewQuestion(
        "correlation",
        "How alike are samples in one unit, and how is that known?",
        _assumption("Units and arms"),
        planned.correlation,
        lambda of: of.design.units is not None,
    ),
    ReviewQuestion(
        "few_units",
        "Are there enough units in an arm?",
        Place(PROTOCOL, "Sample size"),
        planned.few_units,
        lambda of: of.is_test and _has_evidence(of),
    ),
    ReviewQuestion(
        "unequal_arms",
        "Are the arms of one size, or is there a reason?",
        _assumption("Units and arms"),
        planned.unequal_arms,
        lambda of: "arms" in of.kind.optional,
    ),
    ReviewQuestion(
        "randomisation",
        "How are units randomised, or drawn at random?",
        _form("randomisation"),
        conduct.randomisation,
        _is_sampled,
    ),
    ReviewQuestion(
        "concealment",
        "Is the allocation concealed from whoever enrols the units?",
        _form("randomisation"),
        conduct.concealment,
        lambda of: of.groups > 1,
    ),
    ReviewQuestion("blinding", "Who is blinded?", _form("blinding"), conduct.blinding, _is_sampled),
    # controls and materials
    ReviewQuestion(
        "controls",
        "Which controls rule out other explanations?",
        Place(PROTOCOL, "Controls"),
        conduct.controls,
    ),
    ReviewQuestion(
        "control_kinds",
        "Which control is a positive one, which a negative one?",
        _form("controls"),
        conduct.control_kinds,
    ),
    ReviewQuestion(
        "substitutions",
        "What do substitutions of materials and equipment lose?",
        Place(PROTOCOL, "Equipment and reagents"),
        planned.substitutions,
    ),
    ReviewQuestion(
        "availability",
        "Are all materials available, the original’s too?",
        Place("Your lab", "Items"),
        conduct.availability,
    ),
    # the sample
    ReviewQuestion(
        "power",
        "Does the study show enough?",
        Place(PROTOCOL, "Sample size"),
        planned.power,
    ),
    ReviewQuestion(
        "limits",
        "Does the plan keep what the study asks of its numbers?",
        Place(PROTOCOL, "Sample size and duration"),
        planned.limits,
        lambda of: bool(of.pack.limits),
    ),
    ReviewQuestion(
        "original_n",
        "Is the sample smaller than the original’s, and why?",
        Place("Share, Report", "Sample size: why it is changed"),
        planned.original_n,
        _is_test,
    ),
    ReviewQuestion(
        "dropout",
        "How many will drop out, and is that planned for?",
        _assumption("Numbers"),
        planned.dropout,
        _is_sampled,
    ),
    ReviewQuestion(
        "stopping",
        "When does data collection stop, and who looks before?",
        _form("stopping"),
        conduct.stopping,
    ),
    # the original
    ReviewQuestion(
        "original_uncertainty",
        "How sure is the original’s effect?",
        Place("The study’s file", "design, original"),
        planned.original_uncertainty,
        lambda of: of.is_test and of.kind.effect is not None,
    ),
    ReviewQuestion(
        "face_value",
        "Is the published effect taken at face value?",
        _assumption("Numbers"),
        planned.face_value,
        lambda of: of.is_test and of.kind.effect is not None and not of.kind.effect.within_margin,
    ),
    # the analysis and its conclusion
    ReviewQuestion(
        "sidedness",
        "One-sided or two-sided, and is the power that of the test?",
        _form("analysis"),
        planned.sidedness,
        _is_test,
    ),
    ReviewQuestion(
        "success",
        "What counts as replicated?",
        _form("success"),
        planned.success,
    ),
    ReviewQuestion(
        "covered",
        "Is the power that of all that counts as success?",
        _form("success"),
        planned.covered,
        _is_test,
    ),
    ReviewQuestion(
        "sameness",
        "Would p above the level be taken for sameness?",
        _form("meanings"),
        planned.sameness,
        _is_test,
    ),
    ReviewQuestion(
        "multiplicity",
        "How many primary outcomes are there, and is the level kept over them?",
        _form("analysis"),
        conduct.multiplicity,
        _is_test,
    ),
    ReviewQuestion(
        "exclusions",
        "What is excluded?",
        _form("exclusions"),
        conduct.exclusions,
    ),
    ReviewQuestion(
        "outliers",
        "How are outliers treated?",
        _form("exclusions"),
        conduct.outliers,
        _is_sampled,
    ),
    ReviewQuestion(
        "missing_data",
        "What happens to missing data?",
        _form("missing_data"),
        conduct.missing_data,
        _is_sampled,
    ),
)
QUESTIONS: Final = {row.key: row for row in _ROWS}  # By key


def critique(plan: Assessment, said: Registration | None = None) -> tuple[Remark, ...]:
    """Return what a reviewer would ask of a plan: concerns first, then what nobody said.

    Args:
        plan: the plan in its lab.
        said: what its author answers on registration forms.
    """
    of = Reviewed(plan, said or Registration())
    found = [_remark(row, of) for row in _ROWS if row.applies(of)]
    order = list(RemarkStanding)
    return tuple(sorted(found, key=lambda remark: order.index(remark.standing)))


def _remark(row: ReviewQuestion, of: Reviewed) -> Remark:
    standing, text, finder = row.judge(of)
    place = row.place._replace(field=of.pack.study.term(row.place.field))
    return Remark(row.key, row.asks, standing, text, finder, place)
