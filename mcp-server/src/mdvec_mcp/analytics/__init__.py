"""SQL analytics: size-limited answers from the user's tables."""
