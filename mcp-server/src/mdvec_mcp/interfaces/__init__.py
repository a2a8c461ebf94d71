"""The outside world of the server: the protocol."""
