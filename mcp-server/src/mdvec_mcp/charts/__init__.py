"""Charts: publishing them to the client and to the browser on this machine."""

from mdvec.faces import face

__getattr__, __dir__ = face(__name__, __file__)
