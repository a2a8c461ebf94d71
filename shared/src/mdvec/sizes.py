"""Units of size."""

MEGABYTE = 2**20
"""The bytes of a megabyte in settings, limits and messages."""
