"""What derivatives of SciPy's functions call: these modules import SciPy, and are imported by rules of it alone."""
