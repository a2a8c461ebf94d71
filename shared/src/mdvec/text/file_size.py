"""Formats file sizes for people."""


def file_size(size: int) -> str:
    """A number of bytes as text such as 8.0 kB; 1 kB is 1,024 bytes, as in settings and limits."""
    amount = float(size)
    for unit in ("B", "kB", "MB"):
        if amount < 1024:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1024
    return f"{amount:.1f} GB"
