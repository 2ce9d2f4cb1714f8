"""`python -m tests.benchmarks`, which is what `make bench` runs."""

import sys

from .run import main

sys.exit(main(sys.argv[1:]))
