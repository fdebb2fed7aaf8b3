"""ReplicaLab: what a lab can run of a published experiment, and what each cut costs."""

import importlib as _importlib
import typing as _typing

if _typing.TYPE_CHECKING:
    from replicalab.api import (
        asks,
        assess,
        cheapest,
        compare,
        frontier,
        least_loss,
        load,
        most_evidence,
        negotiate,
        report,
        run_batch,
        studies,
        suggest,
    )
    from replicalab.features.break_even import break_evens, robust_plan
    from replicalab.features.portfolio import portfolio

# The version that the wheel and every document names.
__version__: _typing.Final = "2.0.0"

__all__ = [
    "asks",
    "assess",
    "break_evens",
    "cheapest",
    "compare",
    "frontier",
    "least_loss",
    "load",
    "most_evidence",
    "negotiate",
    "portfolio",
    "report",
    "robust_plan",
    "run_batch",
    "studies",
    "suggest",
]


def __getattr__(name: str) -> object:
    """Return one of these names; the core is imported with the first, not with the package."""
    if name not in __all__:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    features = _importlib.import_module("replicalab.features")
    homes = (f"features.{row.name}" for row in features.FEATURES if name in row.names)
    module = _importlib.import_module(f"replicalab.{next(homes, 'api')}")
    value: object = getattr(module, name)
    return value


def __dir__() -> list[str]:
    """Return these names for completion."""
    return [*__all__, *(name for name in globals() if name.startswith("__"))]
