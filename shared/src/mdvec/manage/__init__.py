"""Use cases of both apps: registering tools, importing them, their status."""
