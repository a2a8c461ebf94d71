"""The commands, one file per command or group."""

from mdvec.faces import face

__getattr__, __dir__ = face(__name__, __file__)
