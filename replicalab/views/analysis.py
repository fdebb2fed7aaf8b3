"""A power analysis in words: what may be worked out, and what it comes to."""

from replicalab.assessment import Assessment
from replicalab.drafts import stated
from replicalab.lexicon import amount_text, capitalised, percent_text
from replicalab.measures import Kind, Unknown
from replicalab.views.blocks import Group, sentences_panel
from replicalab.views.plan import assumption_text, dropout_text, effect_text
from replicalab.views.verdicts import evidence_sentence


def unknown_name(row: Kind, unknown: Unknown) -> str:
    """Return what a number of a power analysis of a kind is called: ``power``."""
    effect = row.effect.name if row.effect else ""
    named = {Unknown.EFFECT: effect, Unknown.EVIDENCE: row.measure, Unknown.SAMPLES: "samples"}
    return named.get(unknown, unknown.value)


def worked_out_panel(plan: Assessment, unknown: Unknown) -> Group:
    """Return what was worked out, and what the analysis comes to with it."""
    evidence, design = plan.evidence, plan.pack.design
    name = capitalised(unknown_name(evidence.row, unknown))
    assumed = assumption_text(plan).removesuffix(".")
    alpha = f", alpha {design.alpha:.4g}" if evidence.row.uses("alpha") else ""
    comes_to = f"{evidence_sentence(evidence)} {assumed}{alpha}."
    return sentences_panel(
        [comes_to, dropout_text(plan), stated(design.source)],
        title=f"{name}: {_value_text(plan, unknown)}",
        level=4,
    )


def _value_text(plan: Assessment, unknown: Unknown) -> str:
    design, planned = plan.pack.design, plan.counts.samples
    match unknown:
        case Unknown.EFFECT:
            return effect_text(design.effect_planning)
        case Unknown.ALPHA:
            return f"{design.alpha:.4g}"
        case Unknown.EVIDENCE:
            return plan.evidence.number
        case Unknown.SAMPLES:
            return amount_text(planned)
        case Unknown.DROPOUT:
            return percent_text(design.dropout)
