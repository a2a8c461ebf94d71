"""What the server knows beyond the library, free of the outside world."""
