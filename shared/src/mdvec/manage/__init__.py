"""The functions that the apps call: registering tools, importing them, their status."""

from mdvec.faces import face

__getattr__, __dir__ = face(__name__, __file__)
