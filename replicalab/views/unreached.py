"""What is said of a target that no number of samples reaches, or none in as many units."""

from replicalab.assessment import Assessment
from replicalab.lexicon import count_text, plural
from replicalab.planner.unreached import TargetLimit, why_unreached


def unreached_text(plan: Assessment) -> str:
    """Return which limit keeps the target out of reach; empty where some n reaches it.

    ``All there is, 420 samples, shows power 0.62.``
    """
    found, evidence, units = why_unreached(plan), plan.evidence, plan.pack.design.units
    if found is None:
        return ""
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
