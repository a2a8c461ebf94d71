"""A tool's stored documents, chunks and embeddings, and the indexes derived from them."""
