"""mdvec: the command line that registers, imports and shows."""
