"""SQL over the user's tables: one judge, one locked-down process, answers of limited size."""

from mdvec.faces import face

__getattr__, __dir__ = face(__name__, __file__)
