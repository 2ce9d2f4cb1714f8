"""A reverse-mode interpreter of `Code` with shadows: the general tier of the compiler as an executable specification.

It runs a program on real objects and keeps beside each reference whether it is active.  Every effect and every
differentiable operation is logged once it has happened; the reverse part goes through the log backwards.  It takes
nothing from the compiler but the frontend, the interpreter of `Code` and the rules of the operation table.
"""
