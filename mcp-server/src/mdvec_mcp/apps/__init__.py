"""The page's views as MCP Apps in the chat: the same templates, without a browser or port."""

from mdvec.faces import face

__getattr__, __dir__ = face(__name__, __file__)
