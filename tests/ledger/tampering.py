"""What another hand could change in a ledger's tables, in SQL that every store understands."""

EDITS = (
    f"UPDATE accounts SET main = '{'0' * 64}'",
    f"UPDATE accounts SET main_limit = '{'9' * 64}'",
    """UPDATE accounts SET terms = replace(terms, '"epsilon":"1"', '"epsilon":"9"')""",
    "DELETE FROM entries WHERE sequence = 5",
    "UPDATE entries SET body = replace(body, 'SELECT 1', 'SELECT 7') WHERE sequence = 5",
    "DELETE FROM charges WHERE id = 3",
    "UPDATE charges SET answer = (SELECT answer FROM charges WHERE id = 5) WHERE id = 3",
    "UPDATE charges SET state = 'charged', answer = NULL WHERE id = 3",
    "UPDATE head SET sequence = 5, digest = (SELECT digest FROM entries WHERE sequence = 5)",
    "UPDATE datasets SET declaration = replace(declaration, 'person', 'row')",
)
