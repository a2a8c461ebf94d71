"""The command `mdvec`: handles Ctrl-C while it loads and while it ends, without tracebacks."""

from __future__ import annotations

import signal
import sys

from mdvec.quick_start import load_quickly, loaded

_STOPPED = 130


def main() -> None:
    """Load and run `mdvec`."""
    load_quickly()
    try:
        import mdvec_cli.main
    except KeyboardInterrupt:
        sys.stderr.write("stopped\n")
        sys.exit(_STOPPED)
    loaded()
    try:
        mdvec_cli.main.main()
    finally:  # an interrupt at the interpreter's exit would print a traceback
        signal.signal(signal.SIGINT, signal.SIG_DFL)
