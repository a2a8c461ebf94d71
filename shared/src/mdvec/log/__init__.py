"""The log file: records what mdvec did, without the user's data."""

from mdvec.faces import face

__getattr__, __dir__ = face(__name__, __file__)
