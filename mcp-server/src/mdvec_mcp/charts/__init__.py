"""Charts: drawing them, and serving them to the browser on this machine."""
