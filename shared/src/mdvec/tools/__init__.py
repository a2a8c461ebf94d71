"""The table of tools: each row is a source and becomes an MCP tool of the server."""

from mdvec.faces import face

__getattr__, __dir__ = face(__name__, __file__)
