"""A plan against its lab, what its evidence rests on, and what a step from it saves and loses."""

import re
from collections.abc import Callable, Iterable
from typing import Final

from replicalab import assessment, lexicon
from replicalab.assessment import phrases
from replicalab.designs import KINDS, DesignParameters
from replicalab.facts import texts
from replicalab.facts.units import arms_text, basis_text, grouping_text
from replicalab.models import Dimension
from replicalab.planner import PlanStep, leanest
from replicalab.scenarios import QUESTION_RECORDS, Control, Design, Pack

_NAMED_ONE_BY_ONE: Final = 2  # So many numbers of a question are named one by one
WISHES: Final = "Wishes broken"  # What a row of the study's wishes that plans break is called
_NOUN_WORDS: Final = 3  # A noun of more words is too long to be repeated
_DETAIL: Final = re.compile(r" \(| in | of ")
_COUNTED: Final = re.compile(r"(?<![\w'])([\d,]+) samples\b")
_ENOUGH_FEWER: Final = 0.75  # Fewer samples are spoken of from this share of those planned


def listed(opening: str, labels: Iterable[str]) -> str:
    """Return labels in quotation marks after an opening; empty where there are none."""
    text = lexicon.joined(lexicon.quoted(labels))
    return f"{opening}{text}" if text else ""


def elsewhere_text(saved_for: str | None, pack: Pack) -> str:
    """Return that a plan was saved for another study; empty where it was not, or none is named."""
    if saved_for in (None, pack.scenario_id):
        return ""
    return texts.ELSEWHERE.format(study=saved_for, here=pack.scenario_id)


# --- a plan against its lab -----------------------------------------------------------------


def used_text(plan: assessment.Assessment, slack: assessment.Slack) -> str:
    """Return used against the limit: ``2,250 / 2,600 credits``, ``2 needed, 1 free``."""
    used, limit, noun = (
        lexicon.amount_text(slack.used),
        lexicon.amount_text(slack.limit),
        slack.row.noun,
    )
    if slack.row.category:
        return f"{used} needed, {limit} free"
    if slack.row.currency:
        return f"{used} / {plan.pack.lab.money(slack.limit)}"
    if slack.row.is_amount:
        last = phrases.last_day_text(plan) if slack.dimension is Dimension.SCHEDULE else ""
        return f"{used} / {limit} {lexicon.plural(noun, slack.limit)}{last}"
    if not slack.ok and slack.dimension not in plan.causes:
        return f"see {phrases.dimensions_text(plan.pack, plan.repeated)}"
    errors = plan.validation.errors if slack.dimension is Dimension.PROTOCOL else []
    term = plan.pack.study.term
    about = dict.fromkeys(term(error.category.replace("_", " ")) for error in errors)
    counted = lexicon.count_text(slack.used, noun)
    return f"{counted}: {', '.join(about)}" if about else counted


def slack_text(slack: assessment.Slack) -> str:
    """Return what is left, signed (``+350``, ``−2``, ``0``); empty where nothing can be left."""
    is_counted = slack.row.is_amount or slack.row.category
    return lexicon.signed_text(slack.slack) if is_counted else ""


def spare_text(plan: assessment.Assessment) -> str:
    """Return how many samples would do; empty unless they are at least a quarter fewer.

    ``25 participants would reach power 0.97; you planned 100.`` Where fewer are analysed: ``28
    participants (25 analysed) would …``.
    """
    lean, planned = leanest(plan), plan.counts.samples
    if lean is None or lean.counts.samples > planned * _ENOUGH_FEWER:
        return ""
    unit, samples = plan.pack.design.unit_of_n.split(" (")[0], lean.counts.samples
    size = (
        lexicon.count_text(1, "sample")
        if samples == 1
        else f"{lexicon.amount_text(samples)} {unit}"
    )
    if text := phrases.analysed_text(samples, lean.evidence.analysed):
        size += f" ({text})"
    planned_size = lexicon.amount_text(planned)
    return texts.TO_SPARE.format(size=size, evidence=lean.evidence.text, planned=planned_size)


def cliff_texts(cliffs: Iterable[assessment.Cliff]) -> list[str]:
    """Return the small steps that change a lot: a staff unit more or less, the endpoint lost."""
    nouns: dict[str, list[str]] = {}
    for cliff in cliffs:
        fewer = texts.LOSES_ENDPOINT if cliff.endpoint else texts.SAVES_STAFF
        nouns.setdefault(texts.ADDS_STAFF if cliff.more else fewer, []).append(cliff.noun)
    return [text.format(noun=lexicon.joined(names, "or")) for text, names in nouns.items()]


def term_text(term: assessment.CostTerm) -> str:
    """Return what a term of the cost adds up from: ``3 × 100``.

    Where some have another price than the rest: ``2 × 100 + 1 × 400``. Of a share, what of:
    ``15 % of 1,200``.
    """
    if term.is_share:
        return f"{lexicon.percent_text(term.rate)} of {lexicon.amount_text(term.number)}"
    prices = term.prices or {term.rate: term.number}
    return " + ".join(
        f"{lexicon.amount_text(number)} × {lexicon.amount_text(price)}"
        for price, number in prices.items()
    )


def staff_text(plan: assessment.Assessment) -> str:
    """Return what a plan's staff adds up from: ``1 + 1 for more than 20 samples = 2 of 4 …``.

    How many they are alone, ``1 of 4 staff units``, where nothing is added.
    """
    terms = [str(plan.pack.staff_model.base)]
    terms += [
        texts.STAFF_STEP.format(
            adds=int(step.adds), limit=lexicon.count_text(step.threshold, step.noun)
        )
        for step in plan.staff_steps
        if step.adds
    ]
    has = lexicon.count_text(plan.pack.lab.staff, "staff unit")
    sum_of = f"{' + '.join(terms)} = " if len(terms) > 1 else ""
    return f"{sum_of}{plan.staff} of {has}"


def cautions_sentence(plan: assessment.Assessment) -> str:
    """Return which wishes a plan breaks and which controls it lacks; empty where none."""
    text = assessment.cautions_text(plan)
    return f"{lexicon.capitalised(text)}." if text else ""


def wishes_cell(plan: assessment.Assessment) -> str:
    """Return which of the study's wishes a plan breaks, for a cell under `WISHES`."""
    return phrases.asked_and_had(plan, plan.broken_wishes) or "none"


def with_cautions(text: str, plan: assessment.Assessment) -> str:
    """Return a text about a plan, and after it which wishes it breaks and controls it lacks."""
    return " ".join(filter(None, [text, cautions_sentence(plan)]))


def newly_broken_text(step: PlanStep) -> str:
    """Return which of the study's wishes a step breaks, or breaks further; empty if none."""
    before, after = step.before, step.after
    new = [
        broken_wish
        for broken_wish in after.broken_wishes
        if broken_wish not in before.broken_wishes
    ]
    result = filter(None, (assessment.wishes_text(after, new), phrases.further_text(before, after)))
    return " ".join(f"{lexicon.capitalised(text)}." for text in result)


def dropped_cautions(plan: assessment.Assessment) -> list[str]:
    """Return what a plan does without of the study's controls; first what makes the study void."""
    return [
        _protection(control)
        if control.droppable
        else f"{_protection(control)} {texts.FIXED_CONTROL}"
        for control in sorted(plan.dropped, key=lambda control: control.droppable)
    ]


def notes(plan: assessment.Assessment) -> list[tuple[str, str]]:
    """Return what else is to be known of a plan: what kind of note it is, and its sentence."""
    others = [issue.message for issue in plan.validation.paper_warnings]
    others += filter(None, [spare_text(plan)])
    kinds = {
        "Caution": [*filter(None, [_of_units(plan)]), *dropped_cautions(plan)],
        "Note": others,
        "Close to a step": cliff_texts(plan.cliffs),
    }
    return [(name, text) for name, lines in kinds.items() for text in lines]


def _of_units(plan: assessment.Assessment) -> str:
    """Return how a plan's samples stand to the study's units, as a sentence; empty without any."""
    text = phrases.units_text(plan)
    return f"{lexicon.capitalised(text)}." if text else ""


def _protection(control: Control) -> str:
    text = texts.UNPROTECTED if control.guards else texts.LACKS
    return text.format(control=control.name, guards=control.guards)


# --- what the evidence rests on -------------------------------------------------------------


def asked_text(pack: Pack, most: int | None = _NAMED_ONE_BY_ONE) -> str:
    """Return what of the evidence is the visitor's question and not the study's; empty if nothing.

    ``effect 0.3, yours``; of more than so many how many they are, None for each of them.
    """
    number = len(pack.asked)
    if most is not None and number > most:
        return texts.ASSUMPTIONS.format(number=number)
    text = ", ".join(_number_text(name, pack) for name in pack.asked)
    return f"{text}, yours" if text else ""


def _number_text(name: str, pack: Pack) -> str:
    """Return a number or a record of a question with its name: ``effect 0.3``."""
    value, by_hand = getattr(pack.question, name), KINDS[pack.design.kind].scale.by_hand
    if name in QUESTION_RECORDS:
        return grouping_text(value)
    write: dict[str, Callable[[float], str]] = {
        "dropout": lexicon.percent_text,
        **dict.fromkeys(("alpha", "baseline", "assurance"), "{:g}".format),
    }
    write |= {"effect": effect_text, **dict.fromkeys(("target", "floor"), by_hand)}
    return f"{name} {write[name](value)}"


def sample_text(design: Design) -> str:
    """Return what one sample is; empty where a study only says that it is one."""
    return "" if lexicon.label_key(design.unit_of_n) == "samples" else design.unit_of_n


def unit_noun(design: Design) -> str:
    """Return what the samples of a study are, in three words at most: ``mice``.

    It is what the study calls them up to the first detail; ``samples`` where that is longer.
    """
    noun = _DETAIL.split(design.unit_of_n, maxsplit=1)[0]
    return noun if len(noun.split()) <= _NOUN_WORDS else "samples"


def in_its_noun(text: str, design: Design) -> str:
    """Return a text in which counted samples are called what the study calls them.

    Labels may hold the word too: only after a number is it taken for the study's samples.
    """
    return _COUNTED.sub(rf"\1 {unit_noun(design)}", text)


def groups_text(samples: int, design: Design, *, per_group: bool) -> str:
    """Return how samples are shared out over the groups of a design; empty where that is plain.

    ``64 a group = 128 in all``; ``127 in all: 63 and 64``; ``128 in all: 3 groups of 42, 2 left
    over``; ``128 in all: 96 + 32`` of arms that are not to be equal.
    """
    total, groups = lexicon.amount_text(samples), KINDS[design.kind].groups_of(design)
    if arms := arms_text(samples, design):
        return texts.SAMPLES_IN_ALL.format(total=total, parts=arms)
    number, rest = divmod(samples, groups)
    if groups < 2 or not (rest or per_group):
        return ""
    size = lexicon.amount_text(number)
    if not rest:
        return texts.EVEN_GROUPS.format(size=size, total=total)
    parts = texts.GROUPS_AND_REST.format(groups=groups, size=size, left=rest)
    if design.groups is None:
        parts = f"{size} and {lexicon.amount_text(samples - number)}"
    return texts.SAMPLES_IN_ALL.format(total=total, parts=parts)


def group_text(samples: int, design: Design) -> str:
    """Return how large the groups of a design are: ``64 a group``; empty where it has none."""
    if arms := arms_text(samples, design):
        return arms
    groups = KINDS[design.kind].groups_of(design)
    number, rest = divmod(samples, groups)
    if groups < 2:
        return ""
    if not rest:
        return f"{lexicon.amount_text(number)} a group"
    other = f" and {lexicon.amount_text(samples - number)}" if design.groups is None else ""
    return f"groups of {lexicon.amount_text(number)}{other}"


def dropout_text(plan: assessment.Assessment) -> str:
    """Return how many to recruit to analyse how many; empty where none is to drop out.

    Of more than can count, how many can, and how many of these are left.
    """
    able, counted = plan.evidence.able, lexicon.amount_text(plan.evidence.analysed)
    if plan.evidence.analysed >= able:
        return ""
    text = texts.RECRUIT if able == plan.counts.samples else texts.RECRUIT_OF_ABLE
    return text.format(
        planned=lexicon.amount_text(plan.counts.samples),
        counted=counted,
        dropout=lexicon.percent_text(plan.pack.design.dropout),
        able=lexicon.amount_text(able),
        why=counting_text(plan.counts.days, plan.pack),
    )


def counting_text(days: int, pack: Pack) -> str:
    """Return what keeps samples from counting in so many days: ``20 a day, 12 days``.

    Empty where any number of samples can count.
    """
    rate, exist = pack.samples_per_day, pack.design.population_max
    if exist is not None and (rate is None or exist <= rate.value * days):
        return texts.NO_MORE_EXIST
    if rate is None:
        return ""
    rate_text, days_text = lexicon.amount_text(rate.value), lexicon.count_text(days, "day")
    return texts.RATE.format(rate=rate_text, days=days_text)


def effect_text(effect: float | None) -> str:
    """Return an effect to three digits, ``none`` where there is none."""
    return "none" if effect is None else f"{effect:z.3g}"


def assumption_text(plan: assessment.Assessment) -> str:
    """Return at which assumed effect the evidence is planned, and how.

    What units and unlike arms make of it follows.
    """
    return " ".join(filter(None, (_planned_text(plan), basis_text(plan))))


def _planned_text(plan: assessment.Assessment) -> str:
    evidence, row, design = plan.evidence, plan.evidence.row, plan.pack.design
    method = row.method_of(design)
    if row.effect is None:
        return texts.PLANNED_WITHOUT_EFFECT.format(method=method)
    setting, seen = (
        row.setting_text(DesignParameters.by(design, f)) for f in (1.0, evidence.factor)
    )
    assumed, through = f"{row.effect.name} of {effect_text(design.effect_planning)}", ""
    if seen != setting or evidence.factor != 1:
        changed = seen if seen != setting else ""
        through = texts.SEEN_AS.format(effect=effect_text(evidence.effect), setting=changed)
    if seen == setting and through:
        through, setting = f"{through},{setting}" if setting else through, ""
    return texts.PLANNED.format(assumed=f"{assumed}{setting}{through}", method=method)


def source_text(design: Design) -> str:
    """Return where the formula for the evidence of a design is published, empty where nowhere."""
    source = design.row.source_of(design)
    return f"Source: {source}." if source else ""


def assumed_rows(plan: assessment.Assessment) -> list[tuple[str, str, assessment.Evidence]]:
    """Return the evidence at each effect worth assuming: its name, its size, what the plan buys."""
    return [
        (label, effect_text(effect), plan.evidence_at(effect))
        for label, effect in assessment.assumed_effects(plan.pack.design)
    ]


def bounds_text(evidence: assessment.Evidence) -> str:
    """Return what the marks of a bar of evidence mean."""
    floor, target = evidence.amount(evidence.floor), evidence.amount(evidence.target)
    return texts.MARKS.format(floor=floor, target=target)


def effect_label(effect: assessment.AssumedEffect) -> str:
    """Return an assumed effect with its size: ``halved (0.0885)``."""
    return f"{effect.label} ({effect_text(effect.effect)})"


# --- a step from one plan to another --------------------------------------------------------


def saved_text(step: PlanStep) -> str:
    """Return what a step saves: ``saves 1,500 credits``, ``costs 50 credits``."""
    lab = step.after.pack.lab
    if step.credits_saved == 0:
        return f"saves no {lab.currency}"
    word = "saves" if step.credits_saved > 0 else "costs"
    return f"{word} {lab.money(abs(step.credits_saved))}"


def evidence_text(step: PlanStep) -> str:
    """Return what happens to the evidence: ``power 0.86 → 0.58``, or that nothing does."""
    old, new = step.before.evidence, step.after.evidence
    if not step.evidence_changed:
        moved = old.value != new.value and not (old.void_reason or new.void_reason)
        return f"{old.text}, {texts.HARDLY if moved else texts.UNCHANGED}"
    if old.void_reason or new.void_reason:
        return f"{old.text} → {new.text}"
    return old.text_of(f"{old.number} → {new.number}")


def loss_text(step: PlanStep) -> str:
    """Return what a step does to the study: evidence, the effect it detects, its fidelity."""
    old, new = (effect_text(plan.detectable_effect) for plan in (step.before, step.after))
    sought = step.after.evidence.row.sought
    detects = f"{sought} {old} → {new}" if sought and old != new else ""
    return "; ".join(filter(None, (evidence_text(step), detects, fidelity_move(step))))


def fidelity_move(step: PlanStep) -> str:
    """Return what a step does to the fidelity loss: ``fidelity loss 0 → 2``; empty if nothing."""
    old, new = step.before.fidelity_loss, step.after.fidelity_loss
    return f"fidelity loss {old} → {new}" if old != new else ""


def total_loss_text(step: PlanStep) -> str:
    """Return what several steps do to the study in all, the fidelity loss by its parts.

    A plan's fidelity loss is a sum, so it may be more than the 3 of a single substitution.
    """
    parts = loss_parts_text(step.after) if fidelity_move(step) else ""
    return f"{loss_text(step)} ({parts})" if parts else loss_text(step)


def loss_parts_text(plan: assessment.Assessment) -> str:
    """Return where a plan's fidelity loss comes from: ``substitution 2, dropped control 1``."""
    dropped = len(plan.dropped)
    parts = {
        "substitution": plan.substitution_loss,
        lexicon.plural("dropped control", dropped): dropped,
    }
    return ", ".join(f"{name} {loss}" for name, loss in parts.items() if loss)


def protection_losses(step: PlanStep) -> list[str]:
    """Return each protection that a step gives up: the control, and what it guards against."""
    return [_protection(control) for control in step.newly_dropped]
