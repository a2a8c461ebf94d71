"""SQL over the user's tables: queries are checked, run in a locked-down process, and limited."""

from mdvec.faces import face

__getattr__, __dir__ = face(__name__, __file__)
