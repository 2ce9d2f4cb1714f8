"""Derivatives of IR functions, from the rules."""
