"""A tool's stored documents, chunks and embeddings, and the indexes derived from them."""

from mdvec.faces import face

__getattr__, __dir__ = face(__name__, __file__)
