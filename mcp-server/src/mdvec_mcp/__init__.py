"""mdvec-mcp: the MCP server over STDIO that offers an mdvec database to a client."""
