"""Charts: drawing them into bytes, and showing them in the user's browser."""
