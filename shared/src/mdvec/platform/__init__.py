"""Code that differs by system: locks, limits, processes, open files, users and the sandbox."""

from mdvec.faces import face

__getattr__, __dir__ = face(__name__, __file__)
