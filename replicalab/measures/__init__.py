"""What n buys, by kind of design: one table of formulas, words, formats and directions."""

from replicalab.measures.kinds import (
    KINDS,
    LEAST_SHARE,
    LEAST_UNITS,
    DesignKind,
    arms_of,
    design_effect,
    samples_left,
    samples_of,
    units_left,
    units_of,
    whole_units,
)
from replicalab.measures.normal_scales import NormalScale
from replicalab.measures.originals import Estimate, estimate_of
from replicalab.measures.reported import EffectSource
from replicalab.measures.rows import (
    AS_PUBLISHED,
    GROUPINGS,
    HALVED,
    PARAMETERS,
    SMALLEST,
    DesignParameters,
    Kind,
)
from replicalab.measures.scales import EvidenceTier
from replicalab.measures.solving import PowerAnalysis, Unknown, analysed_of, unknowns_of
