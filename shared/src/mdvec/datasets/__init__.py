"""Data files (CSV, Parquet, workbooks, databases and others) as a kind of source."""

from mdvec.faces import face

__getattr__, __dir__ = face(__name__, __file__)
