"""Analyses of the IR: pure functions from a function to a frozen result."""
