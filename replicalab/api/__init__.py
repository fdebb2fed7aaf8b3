"""The names of ``import replicalab``, for scripts and notebooks.

What they return are the core's own results, which say in a notebook what the pages say: the same
panels, drawn when they are shown.
"""

from replicalab.api.documents import compare, report
from replicalab.api.labs import Lab, load, studies
from replicalab.api.negotiations import negotiate, run_batch
from replicalab.api.plans import asks, assess, frontier, least_loss, suggest
from replicalab.api.portfolios import portfolio
