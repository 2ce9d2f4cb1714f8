"""Functions with the gradients that the compiler writes for them, to be read by people."""
