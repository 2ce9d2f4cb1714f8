"""Standard kernels as plain NumPy, written as a textbook has them: what `s2sad` must differentiate untouched."""
