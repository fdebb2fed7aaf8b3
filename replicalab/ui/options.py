"""What may be done about the plan on the screen, worked out once per plan."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from replicalab.models import Protocol
from replicalab.scenarios import PackKey
from replicalab.sentences import Options, options_for
from replicalab.ui.session import Here

_KEPT: Final = 256


def options(here: Here) -> Options:
    """Return what may be done about the plan; a rerun with the same plan searches nothing."""
    return _options(here.pack.key, here.plan.model_dump_json())


@lru_cache(maxsize=_KEPT)
def _options(key: PackKey, plan: str) -> Options:
    return options_for(Protocol.model_validate_json(plan), key.pack)
