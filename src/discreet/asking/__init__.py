"""Asking questions of data: from a policy and a question to an exact table, and from there to an answer."""
