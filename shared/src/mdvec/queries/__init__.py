"""Saved questions: SELECTs with a name and parameters, kept in the database."""

from mdvec.faces import face

__getattr__, __dir__ = face(__name__, __file__)
