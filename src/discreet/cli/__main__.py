"""`python -m discreet.cli`: the command line where no script is installed."""

from discreet.cli import main

if __name__ == "__main__":
    main()
