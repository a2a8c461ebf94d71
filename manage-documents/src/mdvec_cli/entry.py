"""The command `mdvec`: Ctrl-C while it loads and while it ends leaves no traceback."""

from __future__ import annotations

from mdvec.quick_start import load_quickly, loaded, stop_at_once

stop_at_once()
load_quickly()

import mdvec_cli.main  # noqa: E402 - only now, so that an interrupt of it is silent


def main() -> None:
    """Run `mdvec`."""
    loaded()
    try:
        mdvec_cli.main.main()
    finally:
        stop_at_once()
