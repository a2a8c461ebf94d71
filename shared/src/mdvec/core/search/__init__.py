"""What makes an answer: signatures, scores, passages; no I/O."""
