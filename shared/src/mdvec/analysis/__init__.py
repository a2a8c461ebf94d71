"""For notebooks and code executors: load and draw exports, print size-limited summaries.

    from mdvec.analysis import safe_load_export, safe_summary_table, safe_json_output

The rows stay in Python; a model that reads the output sees only summaries.
"""

from mdvec.faces import face

__getattr__, __dir__ = face(__name__, __file__)
