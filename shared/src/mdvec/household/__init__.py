"""A household's money: Money Forward statement files, monthly sums, trends, duplicates."""
