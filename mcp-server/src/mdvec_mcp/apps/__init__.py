"""The page's views in the chat, as MCP Apps: the same templates, without a browser or a port."""
