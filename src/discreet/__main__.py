"""`python -m discreet` is the command `discreet`."""

from discreet.apps.cli import main

if __name__ == "__main__":
    main()
