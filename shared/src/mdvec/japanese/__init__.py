"""Sentences of the library in Japanese: what the page and the commands say in place of English."""

from mdvec.faces import face

__getattr__, __dir__ = face(__name__, __file__)
