"""The models that the server holds in memory."""
