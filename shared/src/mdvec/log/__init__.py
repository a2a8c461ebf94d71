"""The log file: what mdvec did, in lines that hold no data of the user."""
