"""What a model may ask of the user's tables; no I/O."""
