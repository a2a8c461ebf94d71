"""Streamable HTTP: one server for many clients."""
