"""The tables of a tool's documents, chunks and vectors, and the indexes derived from them."""
