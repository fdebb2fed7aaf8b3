"""What n buys, by kind of design: one table of formulas, words, formats and directions."""

from replicalab.designs.kinds import KINDS
from replicalab.designs.originals import Estimate, estimate_of
from replicalab.designs.parameters import (
    GROUPINGS,
    LEAST_SHARE,
    LEAST_UNITS,
    PARAMETERS,
    DesignParameters,
    arms_of,
    design_effect,
    samples_left,
    units_left,
    units_of,
)
from replicalab.designs.parts import AS_PUBLISHED, HALVED, SMALLEST, EvidenceTier, Kind
from replicalab.designs.reported import EffectSource
from replicalab.designs.solving import PowerAnalysis, Unknown, analysed_of, unknowns_of
