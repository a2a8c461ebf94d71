"""The local page: HTML views of search, tools, duplicates, money and data, for the user alone."""
