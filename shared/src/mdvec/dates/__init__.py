"""Months, and parsers for phrases that name months, weeks and days."""

from mdvec.faces import face

__getattr__, __dir__ = face(__name__, __file__)
