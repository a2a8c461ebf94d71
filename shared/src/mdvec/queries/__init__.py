"""Saved questions: SELECTs with a name and parameters, kept in the database."""
