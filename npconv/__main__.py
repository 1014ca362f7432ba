"""`python -m npconv` is the same as the command `npconv`."""

import sys

from npconv.cli import main

if __name__ == "__main__":
    sys.exit(main())
