"""What the client sees: tools, their schemas, their answers."""
