"""Puts numbers of things into English words."""


def counted(number: int, noun: str) -> str:
    """The number with its noun: 1 file, 1,200 files."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
