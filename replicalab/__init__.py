"""ReplicaLab: what a lab can run of a published experiment, and what each cut costs."""

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from replicalab.api import (
        Lab,
        asks,
        assess,
        frontier,
        least_loss,
        load,
        negotiate,
        run_batch,
        studies,
        suggest,
    )

# The version that the wheel and every document names; there is no release yet.
__version__: Final = "0.0.dev"

__all__ = [
    "Lab",
    "asks",
    "assess",
    "frontier",
    "least_loss",
    "load",
    "negotiate",
    "run_batch",
    "studies",
    "suggest",
]


def __getattr__(name: str) -> object:
    """Return one of the ten names; the core is imported with the first, not with the package."""
    if name not in __all__:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    found: object = getattr(import_module("replicalab.api"), name)
    return found


def __dir__() -> list[str]:
    return [*globals(), *__all__]
