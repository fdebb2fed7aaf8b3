"""What a step of a plan loses, in sentences: credits, evidence, fidelity, protections."""

from __future__ import annotations

from collections.abc import Iterator

from replicalab.concessions import Concession, PlanPrice, dropped_controls
from replicalab.evidence import Evidence, smallest_detectable_effect
from replicalab.lexicon import count_text
from replicalab.margins import unmet_durations
from replicalab.models import Protocol
from replicalab.scenarios import Control, Pack


def saved_text(step: Concession) -> str:
    """Return what a step saves: ``saves 1,500 credits``, ``costs 50 credits``."""
    if step.credits_saved == 0:
        return "saves no credits"
    word = "saves" if step.credits_saved > 0 else "costs"
    return f"{word} {count_text(abs(step.credits_saved), 'credit')}"


def loss_text(step: Concession, scenario: Pack) -> str:
    """Return what a step does to the study: evidence, the effect it detects, its fidelity."""
    return "; ".join([step.evidence_text, *_effect_loss(step, scenario), *_fidelity_loss(step)])


def _effect_loss(step: Concession, scenario: Pack) -> Iterator[str]:
    sought = step.new.evidence.row.sought
    if sought is None:
        return
    old = effect_text(detectable_effect(step.old.evidence, scenario))
    new = effect_text(detectable_effect(step.new.evidence, scenario))
    if old != new:
        yield f"{sought.name} {old} → {new}"


def _fidelity_loss(step: Concession) -> Iterator[str]:
    if step.old.loss != step.new.loss:
        yield f"fidelity loss {step.old.loss} → {step.new.loss}"


def total_loss_text(step: Concession, scenario: Pack) -> str:
    """Return what several steps do to the study in all, the fidelity loss by its parts.

    A plan's fidelity loss is a sum, so it may be more than the 3 of a single substitution.
    """
    text = loss_text(step, scenario)
    if step.old.loss == step.new.loss or not step.new.loss:
        return text
    return f"{text} in all ({loss_parts_text(step.new)})"


def loss_parts_text(found: PlanPrice) -> str:
    """Return where a plan's fidelity loss comes from: ``substitution 2, dropped control 1``."""
    dropped = len(found.dropped)
    parts = [f"substitution {found.fidelity_loss}"] if found.fidelity_loss else []
    parts += [f"dropped control{'' if dropped == 1 else 's'} {dropped}"] if dropped else []
    return ", ".join(parts)


def unreached_days_text(before: int, after: int, scenario: Pack) -> str:
    """Return which of the study's own durations fewer days no longer reach; empty if none."""
    return " ".join(unmet_durations(after, scenario)) if after < before else ""


def protection_losses(step: Concession) -> list[str]:
    """Return each protection that a step gives up: the control, and what it guards against."""
    before = {control.name for control in step.old.dropped}
    return [_protection(c) for c in step.new.dropped if c.name not in before]


def dropped_cautions(plan: Protocol, scenario: Pack) -> list[str]:
    """Return what a plan does without of the study's controls; first what makes the study void."""
    gone = sorted(dropped_controls(plan, scenario), key=lambda control: control.droppable)
    return [
        _protection(control)
        if control.droppable
        else f"{_protection(control)} It is a fixed control: the study is void without it."
        for control in gone
    ]


def _protection(control: Control) -> str:
    return f"Without '{control.name}' nothing protects against {control.protects_against}."


def detectable_effect(evidence: Evidence, scenario: Pack) -> float | None:
    """Return the smallest effect, as the study's own endpoint shows it, that a plan detects.

    A substitution's factor makes every effect look smaller, so the effect must be larger by it.
    None where no test exists, without evidence, and where no effect is large enough.
    """
    if evidence.void:
        return None
    return smallest_detectable_effect(scenario.design, evidence.counted, evidence.factor)


def effect_text(effect: float | None) -> str:
    """Return an effect to three digits, ``none`` where there is none."""
    return "none" if effect is None else f"{effect:.3g}"
