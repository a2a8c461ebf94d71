"""What the apps call: registering tools, importing them, their status."""
