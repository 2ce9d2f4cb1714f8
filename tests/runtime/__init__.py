"""Tests of what emitted code calls."""
