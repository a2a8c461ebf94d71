"""Months, and the words by which people name months, weeks and days."""
