"""The local page: HTML views of search, tools, duplicates, money and data, only for the user."""
