"""Any study, written as YAML and read again, is the same study and gives the same packs."""

from __future__ import annotations

import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from replicalab.lint import lint
from replicalab.scenarios import Difficulty, Study, pack_of, parse_study
from tests.scenarios.test_schema import faults_by_schema
from tests.strategies import studies

thoroughly = settings(suppress_health_check=[HealthCheck.too_slow])


class _Quoting(yaml.SafeDumper):
    """Writes every text in quotes, as a careful author does."""


_Quoting.add_representer(
    str, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"')
)


def as_yaml(study: Study) -> str:
    """Return a study as a file."""
    return yaml.dump(study.model_dump(mode="json"), Dumper=_Quoting, allow_unicode=True)


@thoroughly
@given(studies(), st.integers(0, 10**6))
def test_study_written_as_yaml_is_read_as_the_same_study(study: Study, seed: int) -> None:
    found = parse_study(as_yaml(study), "x.yaml")
    assert found == study
    assert study == Study.model_validate(study.model_dump())
    assert study == Study.model_validate_json(study.model_dump_json())
    for difficulty in Difficulty:
        assert pack_of(found, difficulty, seed) == pack_of(study, difficulty, seed)


@thoroughly
@given(studies())
def test_study_fits_the_schema(study: Study) -> None:
    assert faults_by_schema(study.model_dump(mode="json")) == []


@thoroughly
@given(studies())
def test_lint_says_something_of_any_study(study: Study) -> None:
    places = [finding.place for finding in lint(study)]
    assert {"labs.easy", "labs.medium", "labs.hard"} <= set(places)
