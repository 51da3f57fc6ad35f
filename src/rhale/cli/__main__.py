"""`python -m rhale.cli` is the command `rhale`."""

from rhale.cli import main

if __name__ == "__main__":
    main()
