"""mdvec-mcp: the STDIO server that offers one search tool per active collection."""
