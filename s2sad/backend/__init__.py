"""What derivatives are written in."""
