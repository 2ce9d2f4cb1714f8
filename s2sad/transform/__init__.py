"""Passes from `Code` to `Code`."""
