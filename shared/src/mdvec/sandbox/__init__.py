"""Rights that a process gives up for good before it reads what others wrote."""

from mdvec.faces import face

__getattr__, __dir__ = face(__name__, __file__)
