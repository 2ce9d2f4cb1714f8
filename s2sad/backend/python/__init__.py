"""`Code` as Python text."""
