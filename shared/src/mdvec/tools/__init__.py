"""Tools: the rows that become the server's MCP tools."""
