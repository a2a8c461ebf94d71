"""Source folders: finding files and decoding them."""
