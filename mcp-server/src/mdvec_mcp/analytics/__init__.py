"""Analytics: size-limited answers from SQL over the user's tables."""
