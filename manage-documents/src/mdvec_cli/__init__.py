"""The command `mdvec`: registers, imports and searches tools from a terminal."""
