"""What is said of a target that no number of samples reaches, or none in as many units."""

from typing import Final

from replicalab.assessment import Assessment
from replicalab.assessment.success import success_of
from replicalab.lexicon import count_text, exact_text, joined, plural
from replicalab.measures.replicated import within
from replicalab.measures.success import CRITERIA, Success
from replicalab.planner.unreached import TargetLimit, why_unreached, without_heterogeneity

_ANY: Final = 0.005  # A probability below this is written as 0.00
_ALMOST: Final = 0.9995  # A probability from here on would be written as 1
_LEAST_DIGITS: Final = 3  # Two z that differ are written with so many more as show it
_MOST_DIGITS: Final = 17


def unreached_text(plan: Assessment) -> str:
    """Return which limit keeps the target out of reach; empty where some n reaches it.

    ``All there is, 420 samples, shows power 0.62.``
    """
    found, evidence, units = why_unreached(plan), plan.evidence, plan.pack.design.units
    if found is None:
        return ""
    if found.limit is TargetLimit.SUCCESS:
        return ceiling_text(plan)
    size = count_text(found.samples, "sample")
    is_all = found.samples == plan.pack.design.population_max
    most = "All there is" if is_all else "All that can be planned here"
    shown = f"{most}, {size}, shows {evidence.measure} {evidence.amount(found.value)}"
    if found.limit is TargetLimit.UNITS and units and found.independent is not None:
        alike = (
            f"in {plural(units.name, 2)} of {units.samples:g} with a correlation of {units.icc:g}"
        )
        alone = evidence.amount(found.independent)
        return f"{shown} {alike}; independent ones would show {alone}."
    return f"{shown}."


def ceiling_text(plan: Assessment) -> str:
    """Return that no number of samples reaches the target, and why; empty where one does."""
    found = success_of(plan)
    if found is None or plan.evidence.row.scale.reaches(found.ceiling, plan.evidence.target):
        return ""
    if why := never_text(found.success):
        return f"Success is impossible, however many samples there are: {why}."
    ceiling = share_text(found.ceiling) if found.ceiling < _ALMOST else f"{found.ceiling:.6g}"
    most = f"exceed {ceiling}" if found.ceiling >= _ANY else f"reach {_ANY:g}"
    alike, chosen = without_heterogeneity(found), plan.pack.design.replication
    tau = f", with a heterogeneity tau of {exact_text(chosen.tau)}" if alike and chosen else ""
    could = f" Without heterogeneity it can be {_nearly(alike)}." if alike else ""
    return (
        f"The probability of success cannot {most}, however many samples there are{tau}; the "
        f"target is {plan.evidence.amount(plan.evidence.target)}.{could}"
    )


def _nearly(share: float) -> str:
    return share_text(share) if share < _ALMOST else "nearly 1"


def never_text(success: Success) -> str:
    """Return why no estimate meets the criteria, as it follows on a colon; empty where one may."""
    beyond = success.beyond
    if not beyond:
        return ""
    z, digits = success.basis.z, _LEAST_DIGITS
    while any(f"{z:.{digits}g}" == f"{least:.{digits}g}" for least in beyond.values()):
        digits += 1
        if digits > _MOST_DIGITS:
            break
    needs = [
        f"a {within(CRITERIA[name].label)} at the level takes an original with a |z| above "
        f"{least:.{digits}g}"
        for name, least in beyond.items()
    ]
    return f"{joined(needs, 'and')}; this one has {z:.{digits}g}"


def share_text(value: float) -> str:
    """Return a probability: ``0.86``, ``0.997``; none below 1 is written as 1."""
    if _ALMOST <= value < 1:
        return "> 0.999"
    return f"{value:.3f}" if 0.995 <= value < 1 else f"{value:.2f}"
