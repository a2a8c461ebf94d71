"""The bridge: connects a client that speaks only STDIO to a running HTTP server."""

from mdvec.faces import face

__getattr__, __dir__ = face(__name__, __file__)
