"""The files of the pages."""

import random
from typing import Final

import pytest

from tests.browser.driving import ROOT
from tests.tiers import EVERY_LAB, FEW_LABS

SCENARIOS: Final = "app.py"
STUDY: Final = "pages/0_Study.py"
PROTOCOL: Final = "pages/1_Protocol.py"
NEGOTIATION: Final = "pages/2_Negotiation.py"
TRADE_OFFS: Final = "pages/3_Trade-offs.py"
COMPARE: Final = "pages/4_Compare.py"
LIBRARY: Final = "pages/5_Library.py"
NEED_STUDY: Final = (STUDY, PROTOCOL, NEGOTIATION, TRADE_OFFS)
PAGES: Final = (SCENARIOS, *sorted(f"pages/{path.name}" for path in (ROOT / "pages").glob("*.py")))
IN_EVERY_LAB: Final = pytest.mark.parametrize(("study", "lab"), EVERY_LAB)
IN_FEW_LABS: Final = pytest.mark.parametrize(("study", "lab"), FEW_LABS)
LETTERS: Final = [f"{random.Random(seed).randrange(16**200):0200x}" for seed in range(95)]
"""Controls with which a plan is too long for an address, and with the first forty not."""
