"""The SQLite file: connections, its schema, and migrations."""

from mdvec.faces import face

__getattr__, __dir__ = face(__name__, __file__)
