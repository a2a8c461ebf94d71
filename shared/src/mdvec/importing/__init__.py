"""Code shared by the importers of all kinds: the request, the report and the text index."""

from mdvec.faces import face

__getattr__, __dir__ = face(__name__, __file__)
