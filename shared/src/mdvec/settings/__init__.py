"""The settings file, and the environment and a command's flags, which override it."""

from mdvec.faces import face

__getattr__, __dir__ = face(__name__, __file__)
