"""ReplicaLab: what a lab can run of a published experiment, and what each cut costs."""

from typing import Final

VERSION: Final = "0.0.dev"
"""Which version of this a document was made with; there is no release yet."""
