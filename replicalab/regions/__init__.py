"""Many plans at once: which of them fit a lab, and the region that they form."""

from replicalab.regions.fits import Fits, plans_fit
from replicalab.regions.grid import Edge, Region, grid_for, region, zoomed

__all__ = ["Edge", "Fits", "Region", "grid_for", "plans_fit", "region", "zoomed"]
