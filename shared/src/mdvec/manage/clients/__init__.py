"""MCP clients: where each keeps its servers, and mdvec's entry there."""
