"""The page's views in the chat, as MCP Apps: the same templates, without a browser or a port."""

from mdvec.faces import face

__getattr__, __dir__ = face(__name__, __file__)
