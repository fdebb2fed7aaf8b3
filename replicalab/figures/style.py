"""What every chart shares: colours, size, and how it is shown.

Colours are Okabe and Ito's, which survive colour blindness; every mark also carries its number
or a symbol, so a chart reads in greyscale.
"""

from __future__ import annotations

from typing import Final

PASS: Final = "#009E73"
CAUTION: Final = "#E69F00"
FAIL: Final = "#D55E00"
EVIDENCE: Final = "#0072B2"
QUIET: Final = "#7A8794"
CONFIG: Final = {"displayModeBar": False, "responsive": True}
"""What every chart is shown with."""
TITLE_SIZE: Final = 15
