"""The settings file and what overrides it: the environment and a command's flags."""

from mdvec.faces import face

__getattr__, __dir__ = face(__name__, __file__)
