"""Source folders: finding files and reading their text."""

from mdvec.faces import face

__getattr__, __dir__ = face(__name__, __file__)
