"""Months, and parsers for phrases that name months, weeks and days."""
