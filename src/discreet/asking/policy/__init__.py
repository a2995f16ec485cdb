"""What a data set is, who is protected in it, and what its owner promises and allows: the policy.

A `Policy` is frozen and public: it is made from a TOML file (`from_policy`) or from the arguments of
`Curator.open` (`from_arguments`), and no data is read to make it. Columns that the owner does not mention are
added from the schema of the data with `policy.with_schema(engine.schema())`. `policy.digest` is its identity.

    policy.tables -> Table(name, unit, columns, max_groups, max_rows, source, encoding)
    policy.public -> PublicTable(name, key, columns, source, encoding)
    table.hierarchies -> Hierarchy(levels, labels, starts)
    table.unit    -> UnitColumn(column) | EachRow() | Through(table, on)
    column        -> Column(name, type, bounds, keys, nullable, missing, written)
    policy.budget -> (("delta", Fraction), ("epsilon", Fraction)): exact numbers by name
"""

from discreet.asking.policy.budget import Budget, Serving, read_budget
from discreet.asking.policy.column import (
    LARGEST_INTEGER,
    LONGEST_TEXT,
    SMALLEST_INTEGER,
    TYPES,
    Bound,
    Column,
    Type,
    Value,
    spell,
    type_of,
)
from discreet.asking.policy.frames import FrameWarning, notice_frames
from discreet.asking.policy.hierarchy import Hierarchy, labels_by_level, level_of, starts_by_level
from discreet.asking.policy.locations import Commands, LedgerPlace, sibling_path, stem
from discreet.asking.policy.policy import (
    EachRow,
    Policy,
    PublicTable,
    Relation,
    RowLimit,
    Schema,
    Source,
    Table,
    Through,
    Unit,
    UnitColumn,
    each_row,
)
from discreet.asking.policy.policy_form import (
    ColumnDraft,
    Draft,
    change_setting,
    guess_type,
    guess_unit,
    read_decimal,
    write_text,
)
from discreet.asking.policy.read import (
    Opening,
    default_ledger,
    from_arguments,
    from_policy,
    from_toml,
    ledger_of_policy,
    read_opening,
)

__all__ = [
    "LARGEST_INTEGER",
    "LONGEST_TEXT",
    "SMALLEST_INTEGER",
    "TYPES",
    "Bound",
    "Budget",
    "Column",
    "ColumnDraft",
    "Commands",
    "Draft",
    "EachRow",
    "FrameWarning",
    "Hierarchy",
    "LedgerPlace",
    "Opening",
    "Policy",
    "PublicTable",
    "Relation",
    "RowLimit",
    "Schema",
    "Serving",
    "Source",
    "Table",
    "Through",
    "Type",
    "Unit",
    "UnitColumn",
    "Value",
    "change_setting",
    "default_ledger",
    "each_row",
    "from_arguments",
    "from_policy",
    "from_toml",
    "guess_type",
    "guess_unit",
    "labels_by_level",
    "ledger_of_policy",
    "level_of",
    "notice_frames",
    "read_budget",
    "read_decimal",
    "read_opening",
    "sibling_path",
    "spell",
    "starts_by_level",
    "stem",
    "type_of",
    "write_text",
]
