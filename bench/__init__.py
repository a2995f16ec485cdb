"""Comparisons with the rivals, as ratios measured in one run: `python -m bench [name ...]`."""
