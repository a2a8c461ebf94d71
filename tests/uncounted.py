"""A pause in the counting of coverage, for what libraries do by the second."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncounted() -> Iterator[None]:
    """While lines are traced, Python runs at half its speed or less, in libraries too; what
    this thread does meanwhile, and threads that it starts, goes uncounted.
    """
    own, of_threads = sys.gettrace(), threading.gettrace()
    sys.settrace(None)
    threading.settrace(None)  # type: ignore[arg-type]
    try:
        yield
    finally:
        sys.settrace(own)
        threading.settrace(of_threads)  # type: ignore[arg-type]
