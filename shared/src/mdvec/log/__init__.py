"""The log file: records what mdvec did, without the user's data."""
