"""The table of tools: each row is a source and becomes an MCP tool of the server."""
