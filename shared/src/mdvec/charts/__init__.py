"""Charts of amounts, months and tables: their data, and how they are drawn."""

from mdvec.faces import face

__getattr__, __dir__ = face(__name__, __file__)
