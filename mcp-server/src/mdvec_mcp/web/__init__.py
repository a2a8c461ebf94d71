"""Streamable HTTP: one server for many clients."""

from mdvec.faces import face

__getattr__, __dir__ = face(__name__, __file__)
