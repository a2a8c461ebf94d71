"""The household's tools, resources and charts."""

from mdvec.faces import face

__getattr__, __dir__ = face(__name__, __file__)
