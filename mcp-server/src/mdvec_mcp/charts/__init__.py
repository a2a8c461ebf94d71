"""Charts: publishing them to the client and to the browser on this machine."""
