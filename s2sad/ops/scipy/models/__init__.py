"""What stands for classes and functions of SciPy whose objects carry derivatives, see :mod:`s2sad.ops.models`."""
