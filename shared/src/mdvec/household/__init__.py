"""A household's money: Money Forward statement files, monthly sums, trends, duplicates."""

from mdvec.faces import face

__getattr__, __dir__ = face(__name__, __file__)
