"""From a Python function to the IR: source text, accepted language, lowering."""
