"""What all embedding endpoints share: addresses, keys, requests, retries and checks."""

from mdvec.faces import face

__getattr__, __dir__ = face(__name__, __file__)
