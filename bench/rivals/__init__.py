"""The rivals' side of each comparison; imported only in their environment."""
