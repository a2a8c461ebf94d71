"""Charts: what they show of amounts, months and tables, and how they are drawn."""
