"""The kernel: what must be right for the guarantee to hold, small enough to print and read.

Exact numbers, random bits, laws, losses, mechanisms, accounts and the ledger. Nothing here knows SQL, an
engine, a server or a page.
"""
