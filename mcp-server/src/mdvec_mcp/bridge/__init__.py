"""The bridge: connects a client that speaks only STDIO to a running HTTP server."""
