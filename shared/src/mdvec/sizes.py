"""Units of size."""

MEGABYTE = 2**20
"""Bytes of a megabyte, as settings, limits and messages count it."""
