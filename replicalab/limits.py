"""Limits of input, searches and memory, each with its reason.

They bound the time and memory that any file, link or answer takes.
"""

from typing import Final

LARGEST_COUNT: Final = 10**15  # a float counts every single sample up to here
LARGEST_PLANNED: Final = 1_000_000  # samples or days; the evidence is computed for each
MOST_KEYS: Final = 200  # of one record; each unknown key is a fault of its own
MOST_LABELS: Final = 200  # of a list; each is compared with the items of study and lab
LONGEST_LABEL: Final = 300  # characters; it fits a line of a page
LONGEST_TEXT: Final = 4000  # characters of a technique, a rationale or another prose
MOST_QUESTIONS: Final = 20  # of a turn; each is answered
LONGEST_QUESTION: Final = 500  # characters
MOST_PLAN_BYTES: Final = 20_000  # of all texts (UTF-8); they fit an address

LARGEST_EFFECT: Final = 1e6  # also of a target or a floor; the formulas stay finite
MOST_ITEMS: Final = 40  # of a list; the planner tries their combinations
MOST_OWN_ITEMS: Final = 200  # of a visitor's lab; they fit a link
MOST_SUBSTITUTIONS: Final = 80  # the planner tries their combinations
MOST_PHRASES: Final = 200  # of all restrictions; each is searched for in each text of a plan
LONGEST_TITLE: Final = 200  # characters
LONGEST_SHORT_TITLE: Final = 30  # characters; it heads every page
MOST_PERCENT: Final = 1000  # overhead; costs stay finite
MAX_SEED: Final = 2**63 - 1  # a 64-bit number

MOST_STUDY_BYTES: Final = 256 * 1024  # a shipped study has some 20 KiB
MAX_DEPTH: Final = 20  # of nesting; reading is recursive
MOST_VALUES: Final = 10_000  # keys, lists and blocks counted; a shipped study has some 500
MOST_FILE_BYTES: Final = 6 * 2**20  # of JSON: a study, a lab and the longest negotiation
MOST_JSON_VALUES: Final = 500_000  # lists and blocks counted; they take some 50 MB
MOST_FAULTS: Final = 50  # listed in a message; the rest are counted
LONGEST_QUOTED: Final = 60  # characters that a message quotes
MOST_SHEET_BYTES: Final = 2 * 2**20  # a full list of items has about 30 KiB
MOST_UNPACKED: Final = 20 * 2**20  # bytes of the uncompressed parts of a workbook
MOST_SHEET_ROWS: Final = 1_000  # below the headings; the preview shows each
MOST_COUNTED_ROWS: Final = 100_000  # empty ones too; more take seconds
MOST_SHEET_COLUMNS: Final = 30  # a picker offers each

MAX_NESTING: Final = 32  # brackets open at once; Python's decoder fails near a thousand
MAX_DIGITS: Final = 18  # of a whole number; longer ones cost quadratic time
MAX_PROBLEMS: Final = 12  # listed in a message to a model; the rest are counted
MOST_OBJECTS: Final = 100  # of one answer that are tried; many small ones take a minute
LONGEST_OUTPUT: Final = 200_000  # characters of an answer
MOST_OUTPUTS: Final = 20  # of a turn; no model is asked more often
MOST_ROUNDS: Final = 50  # each is computed again on loading
MOST_GAME_BYTES: Final = 16 * 2**20  # of a session's negotiations with a person or a model

MOST_TERMS: Final = 2000  # of a series
MOST_PER_GROUP: Final = 500  # samples; the exact test enumerates up to here
MOST_COMBINATIONS: Final = 500  # of substitutions
MOST_VARIANTS: Final = 2000  # of a plan; of more, the most promising ones
MOST_ITEMS_TRIED: Final = 8  # all subsets of the missing items are tried
MOST_POINTS: Final = 50  # of a curve
MOST_FRONTIER_SIZES: Final = 1000  # sample sizes
MOST_FRONTIER_PLANS: Final = 20_000  # of all variants
MOST_REGION_COLUMNS: Final = 60  # days
MOST_REGION_ROWS: Final = 120  # samples
MOST_SIDES: Final = 4  # compared at once; they fit a page
MOST_JOBS: Final = 100_000  # of a batch

LONGEST_QUERY: Final = 13_900  # characters after "?"; uvicorn takes 16,384 bytes of headers
LONGEST_ENTRY_NAME: Final = 120  # characters
MOST_PURGED: Final = 50  # overdue entries at once; with a wrong clock few are lost
MOST_OWN_STUDIES: Final = 12  # of one owner
MOST_OWN_STUDY_BYTES: Final = 512 * 1024  # of one owner
MOST_CACHED_BYTES: Final = 24 * 2**20  # of all owners; parsed they take 12 times as much
MOST_PAGE_JOBS: Final = 10_000  # of a batch on a page; the command line runs more
MOST_BATCHES: Final = 3  # under way at once; each has processes of its own
MOST_HELD: Final = 60_000  # jobs of all visitors' batches, some 2 KiB each
MOST_PLAYED_AGAIN: Final = 20  # negotiations of an opened batch; the page waits for them

LARGEST_SEED: Final = 999_999  # six digits are enough to distinguish labs
MOST_PAGE_ROUNDS: Final = 12  # each is a step of the page
MOST_SLIDES: Final = 99  # more than any negotiation has
MOST_LINK_BYTES: Final = 256 * 1024  # of ``more`` once decompressed
LONGEST_NAME: Final = 60  # characters of a name in the comparison
