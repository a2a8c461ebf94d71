"""What is known of a household's money; no I/O."""
