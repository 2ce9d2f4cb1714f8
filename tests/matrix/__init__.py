"""A matrix of small programs about sharing, writing, names of methods and unused results, and their verdicts.

    python -m tests.matrix --count 24000 --jobs 2 [--only METHODS] [--sample 20] [--out FOLDER]

Each program is drawn from the product of {origin of an object, route to another name, writer, use of its result,
order, activity}; `build.program(index)` writes it, always the same text for the same index. `judge.judge` compares
value, gradient, arguments and module state after the gradient call with Python's own and with differences.
"""
