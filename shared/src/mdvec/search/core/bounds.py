"""The bounds of a question, and the choices that it offers.

It imports nothing of mdvec, so that a server lists its tools without loading the search.
"""

from __future__ import annotations

from typing import Literal

MAX_QUERY_CHARS = 4_000
MAX_K = 50
MAX_PATH_CHARS = 500
MAX_TAGS_ASKED = 20
MAX_DAY_CHARS = 60
Sort = Literal["relevance", "newest"]
Returning = Literal["chunk", "section", "document"]
