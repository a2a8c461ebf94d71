"""MCP clients: the file in which each lists its servers, and mdvec's entry there."""
