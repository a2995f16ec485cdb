"""What people touch: the server and its pages, the command line, audits and pictures."""
