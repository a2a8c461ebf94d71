"""An index that keeps itself fresh: looks at sources, and imports in a process of their own."""

from mdvec.faces import face

__getattr__, __dir__ = face(__name__, __file__)
