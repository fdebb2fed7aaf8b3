"""Numbers in the texts of shipped studies, compared with SciPy."""

import math
import re
from collections.abc import Callable
from typing import Final

import pytest
from scipy import integrate, stats

from replicalab.scenarios import Study, list_scenarios, parse_study, study_text

STUDIES: Final = {
    scenario.scenario_id: parse_study(study_text(scenario.scenario_id), scenario.scenario_id)
    for scenario in list_scenarios()
}


def smallest(reaches: Callable[[int], bool]) -> int:
    return next(n for n in range(1, 10_000) if reaches(n))


def two_group_power(n: float, d: float) -> float:
    critical = stats.t.isf(0.025, n - 2)
    test = stats.nct(n - 2, d * math.sqrt(n) / 2)
    return float(test.sf(critical) + test.cdf(-critical))


def one_sample_power(n: float, d: float) -> float:
    critical = stats.t.isf(0.025, n - 1)
    test = stats.nct(n - 1, d * math.sqrt(n))
    return float(test.sf(critical) + test.cdf(-critical))


def detection(n: int, bad: int) -> float:
    return float(1 - stats.hypergeom(1_000_000, bad, n).pmf(0))


def numbers_in(text: str) -> list[float]:
    return [float(number) for number in re.findall(r"\d+(?:\.\d+)?", text)]


def test_pythagorean_sizes_are_exact() -> None:
    why = STUDIES["math_pythagorean"].design.why
    [clean, rule] = map(int, re.findall(r"\b\d{3}\b", why["effect_planning"]))
    assert clean == smallest(lambda n: detection(n, 10_000) >= 0.95)
    assert f"at least 95 % ({100 * (1 - 0.99**clean):.2f} %)" in why["effect_planning"]
    assert rule == math.ceil(3 / 0.01) != clean
    [sesoi] = map(int, re.findall(r"\b\d{3}\b", why["sesoi"]))
    assert sesoi == smallest(lambda n: detection(n, 5_000) >= 0.95)


def test_seeds_state_the_interval_of_the_split() -> None:
    study = STUDIES["ml_rl_seeds"]
    [criterion] = [c for c in study.success_criteria if "A/A" in c]
    [(half_width, *halves)] = re.findall(
        r"±(\d\.\d\d) pooled SD with (\d+) and (\d+) seeds", criterion
    )
    one, other = map(int, halves)
    assert one + other == study.reference_protocol.sample_size // 2
    exact = stats.t.isf(0.025, one + other - 2) * math.sqrt(1 / one + 1 / other)
    assert float(half_width) == pytest.approx(exact, abs=0.005)


def test_myeloma_dropout_is_that_of_the_replication() -> None:
    study = STUDIES["bio_jq1_myeloma"]
    facts = " ".join(fact.text for fact in study.paper.facts)
    deaths = re.findall(r"(\d+) of (\d+)", study.design.why["dropout"])
    assert all(f"{dead} of {arm}" in facts for dead, arm in deaths)
    shares = sum(int(dead) for dead, _ in deaths) / sum(int(arm) for _, arm in deaths)
    assert study.design.dropout == shares


def test_myeloma_misses_its_target() -> None:
    design = STUDIES["bio_jq1_myeloma"].design
    [animals, rest, power, target] = numbers_in(design.why["target"])[:4]
    assert design.effect_planning is not None
    assert (animals, rest) == (design.population_max, animals * 0.75)
    assert (
        power == round(two_group_power(rest, design.effect_planning), 2) < target == design.target
    )
    assert two_group_power(animals, design.effect_planning) >= design.target


def lower_out_of_sample(asked: Study) -> float:
    [less] = {m for f in asked.paper.facts for m in re.findall(r"(\d+) % lower out of", f.text)}
    assert asked.design.effect_published is not None
    return asked.design.effect_published * (1 - int(less) / 100)


def test_momentum_uses_later_months() -> None:
    asked = STUDIES["fin_momentum"]
    design = asked.design
    [(first, last)] = re.findall(r"January (\d{4}) to December (\d{4})", asked.paper.goal)
    published = re.search(r"January (\d{4}) – December (\d{4})", asked.paper.method)
    assert published is not None
    assert int(first) == int(published[2]) + 1
    assert f"CRSP daily returns file {first}–{last}" in asked.reagents
    months = 12 * (int(last) - int(first) + 1)
    [window] = [
        constraint.quantity for constraint in asked.constraints if constraint.key == "window"
    ]
    assert design.population_max == window == months == asked.reference_protocol.sample_size
    assert design.effect_planning == round(lower_out_of_sample(asked), 3)
    [all_of_them, power] = map(float, re.findall(r"\d[\d.]*\d", design.why["target"]))
    assert all_of_them == months
    assert power == round(one_sample_power(months, design.effect_planning), 2)
    assert design.floor < power < design.target


def test_momentum_states_the_joint_probability() -> None:
    study = STUDIES["fin_momentum"]
    assert study.design.effect_planning is not None
    n, shift, sd = study.design.population_max or 0, study.design.effect_planning, 0.95 / 0.177
    error, critical = sd / math.sqrt(n), stats.t.isf(0.025, n - 1)
    spread = stats.chi2(n - 1)

    def near_and_significant(drawn: float) -> float:
        minimum = critical * sd * math.sqrt(drawn / (n - 1) / n)
        means = stats.norm(shift * sd, error)
        return float(means.cdf(1.25) - means.cdf(max(0.65, minimum))) * float(spread.pdf(drawn))

    both, _ = integrate.quad(near_and_significant, spread.ppf(1e-12), spread.isf(1e-12))
    [criterion] = [c for c in study.success_criteria if "within 0.3 points" in c]
    [text] = re.findall(r"together is (0\.\d\d) with all (\d+) months", criterion)
    assert (float(text[0]), int(text[1])) == (round(both, 2), n)
    [fact] = [f.text for f in study.paper.facts if "from 0.65 to 1.25 %" in f.text]
    alone = one_sample_power(n, shift)
    assert re.findall(r"is (0\.\d\d)", fact) == [f"{alone:.2f}", f"{both:.2f}"]


def test_overreaction_uses_later_windows() -> None:
    asked = STUDIES["fin_overreaction"]
    design = asked.design
    [first, last] = re.findall(r"(\d{4})–(\d{4})", asked.paper.goal)
    assert f"CRSP monthly stock file {int(first[0]) - 3}–{last[1]}" in asked.reagents
    windows, rest = divmod(int(last[1]) - int(first[0]) + 1, 3)
    assert rest == 0
    assert f"a {windows + 1}th window" in asked.paper.teaches
    counted = 2 * windows  # each with a portfolio of losers and one of winners
    [history] = [
        constraint.quantity for constraint in asked.constraints if constraint.key == "history"
    ]
    assert design.population_max == history == counted == asked.reference_protocol.sample_size
    [periods, power, planned, at_published, published] = numbers_in(design.why["target"])
    assert (periods, planned, published) == (
        counted,
        design.effect_planning,
        design.effect_published,
    )
    assert planned == round(lower_out_of_sample(asked), 2)
    assert power == round(two_group_power(periods, planned), 2) < design.floor
    assert at_published == round(two_group_power(periods, published), 2)
