"""What a model may ask of the user's tables, without any I/O."""
