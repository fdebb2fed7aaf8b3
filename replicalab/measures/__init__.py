"""What n buys, by kind of design: one table of formulas, words, formats and directions."""

from replicalab.measures.effects import AS_PUBLISHED, HALVED, LARGEST, SMALLEST, Effect
from replicalab.measures.kinds import KINDS, POWER_KINDS, DesignKind
from replicalab.measures.rows import PARAMETERS, DesignNumbers, Given, Kind, Parameter
from replicalab.measures.scales import EvidenceTier, Scale

__all__ = [
    "AS_PUBLISHED",
    "HALVED",
    "KINDS",
    "LARGEST",
    "PARAMETERS",
    "POWER_KINDS",
    "SMALLEST",
    "DesignKind",
    "DesignNumbers",
    "Effect",
    "EvidenceTier",
    "Given",
    "Kind",
    "Parameter",
    "Scale",
]
