"""The command `mdvec-mcp`: Ctrl-C while it loads leaves no traceback."""

from __future__ import annotations

from mdvec.quick_start import load_quickly, stop_at_once

stop_at_once()
load_quickly()

from mdvec_mcp.main import main  # noqa: E402 - only now, so that an interrupt of it is silent

__all__ = ["main"]
