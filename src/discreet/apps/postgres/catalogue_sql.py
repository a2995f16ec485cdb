"""Questions about the catalogue: PostgreSQL's SQL, cut down to a closed list of nodes, as SQL of our own.

A statement is about the catalogue if all its tables are system tables, or it has none; or if it asks for no
row of the data set's tables, as tools do to learn their columns. Everything else is a question.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from discreet.apps.postgres.catalogue import Catalogue, FreeAnswer, unknown
from discreet.apps.postgres.catalogue_tables import EMPTY, FILLED, INFORMATION, MACROS
from discreet.apps.postgres.failures import Refused
from discreet.apps.postgres.formats import BY_NAME, OURS, Column
from discreet.asking.policy import Policy

MOST_DEPTH = 500  # nodes inside one another
LONGEST_SERIES = 1000
SYSTEM = ("pg_catalog", "information_schema")
_KNOWN = {*FILLED, *EMPTY, *INFORMATION}
# Nodes that are only syntax, and functions that are total and small.
_NODES = (
    "Add Alias Aliases All And Anonymous Any AnyValue Array ArrayAgg ArrayContains ArrayPosition",
    "ArraySize ArrayToString Between BitwiseAnd Boolean Bracket CTE Case Cast Coalesce Column Count",
    "DPipe DataType DataTypeParam Distinct Div EQ Escape Except Exists Filter From GT GTE Greatest",
    "Group Having ILike Identifier If In Intersect Is Join LT LTE Least Left Length Like Limit Literal",
    "LogicalAnd LogicalOr Lower Max Min Mul NEQ Neg Not Null NullSafeEQ NullSafeNEQ Nullif",
    "ObjectIdentifier Offset Or Order Ordered Paren RegexpILike RegexpLike Right RowNumber Select Slice",
    "SplitPart Star StrPosition Sub Subquery Substring Sum Table TableAlias Trim Tuple Union Unnest",
    "Upper Values Var Where Window WindowSpec With",
)
_ALLOWED = frozenset(getattr(exp, name) for line in _NODES for name in line.split())
_OPERATORS = {"~": exp.RegexpLike, "=": exp.EQ, "<>": exp.NEQ, "~~": exp.Like, "~*": exp.RegexpILike}
_FUNCTIONS = ("typreceive", "typsend", "typinput", "typoutput")  # names here, numbers in PostgreSQL
_SYSTEM_NUMBERS = {"pg_class": 1259, "pg_constraint": 2606, "pg_type": 1247, "pg_namespace": 2615,
                   "pg_database": 1262, "pg_proc": 1255, "pg_attribute": 1249}  # fmt: skip
_NOTHING = (  # of identity columns and networks, of which there are none
    "_pg_expandarray", "json_build_object",
    "jsonb_build_object", "row_to_json", "inet_server_addr", "inet_client_addr",
    "inet_server_port", "inet_client_port", "pg_postmaster_start_time", "txid_current", "pg_current_xact_id",
)  # fmt: skip


@dataclass(frozen=True)
class Facts:
    """What a session knows of itself."""

    user: str
    database: str
    version: str
    settings: Mapping[str, str]


def parse(text: str) -> Any:
    """Return the statement's tree; None if it is not PostgreSQL's SQL, and so at most a question.

    Trees that are too deep are refused by their depth, whatever depth of calls the process allows.
    """
    try:
        found = sqlglot.parse_one(text, read="postgres")
    except (SqlglotError, ValueError):
        return None
    except RecursionError:
        raise _too_deep() from None
    level: list[Any] = [found]
    for _ in range(MOST_DEPTH):
        level = [child for node in level for child in node.iter_expressions()]
        if not level:
            return found if isinstance(found, exp.Query | exp.Values) else None
    raise _too_deep()


def _too_deep() -> Refused:
    return Refused("54001", f"A statement must nest at most {MOST_DEPTH} deep.")


def about_catalogue(tree: exp.Expression, policy: Policy) -> bool:
    """Return whether a statement asks for nothing of the data: system tables alone, or no row at all."""
    system = [_is_system(table, policy) for table in _real_tables(tree)]
    if any(system) and not all(system):
        raise Refused("0A000", "System tables and private tables cannot be asked about together.")
    return all(system) or _asks_no_row(tree)


def _real_tables(tree: exp.Expression) -> list[exp.Table]:
    named = {each.alias_or_name.lower() for each in tree.find_all(exp.CTE)}
    return [
        each
        for each in tree.find_all(exp.Table)
        if (each.name.lower() not in named or each.db) and isinstance(each.this, exp.Identifier)
    ]


def _is_system(table: exp.Table, policy: Policy) -> bool:
    if table.db:
        return table.db.lower() in SYSTEM
    return table.name.lower().startswith("pg_") and policy.table(table.name) is None


def _asks_no_row(tree: exp.Expression) -> bool:
    """Return whether LIMIT 0, or WHERE false without aggregates, leaves nothing to be asked."""
    limit = tree.args.get("limit")
    if (
        isinstance(limit, exp.Limit)
        and isinstance(limit.expression, exp.Literal)
        and limit.expression.name == "0"
    ):
        return True
    where = tree.args.get("where")
    if where is None or tree.args.get("group") or tree.find(exp.AggFunc):
        return False
    condition = where.this
    if isinstance(condition, exp.Boolean):
        return not condition.this
    sides = (condition.args.get("this"), condition.args.get("expression"))
    literals = [each.name for each in sides if isinstance(each, exp.Literal) and not each.is_string]
    return isinstance(condition, exp.EQ) and len(literals) == 2 and literals[0] != literals[1]


def declared_keys(tree: exp.Expression, policy: Policy) -> FreeAnswer | None:
    """Return the declared keys where a statement asks for the distinct values of one column; else None."""
    if not isinstance(tree, exp.Select) or any(
        tree.args.get(part) for part in ("where", "joins", "having", "with_", "offset", "laterals")
    ):
        return None
    source, outputs = tree.args.get("from_"), tree.expressions
    grouped = tree.args.get("group")
    if source is None or not isinstance(source.this, exp.Table) or len(outputs) != 1:
        return None
    column = outputs[0].unalias()
    alone = grouped is not None and [each.sql() for each in grouped.expressions] in ([column.sql()], ["1"])
    if not isinstance(column, exp.Column) or not (tree.args.get("distinct") or alone):
        return None
    table = policy.table(source.this.name)
    found = None if table is None else table.column(column.name)
    if found is None:
        return None
    if found.keys is None:
        raise Refused(
            "0A000",
            f"The values of {found.name} are in the data alone: the policy declares no keys. Ask for private "
            f"keys instead: SELECT {found.name}, COUNT(*) ... GROUP BY {found.name}, with a price.",
        )
    keys = [key for key in found.keys if key is not None]
    order = tree.args.get("order")
    if order is not None:
        keys = sorted(
            keys, key=lambda key: (str(type(key)), key), reverse=bool(order.expressions[0].args.get("desc"))
        )
    limit = tree.args.get("limit")
    most = len(keys)
    if limit is not None:
        if not isinstance(limit, exp.Limit) or not limit.expression.is_int:
            return None
        most = int(limit.expression.name)
    return FreeAnswer((Column(outputs[0].alias_or_name, OURS[found.type]),), [(key,) for key in keys[:most]])


def setting_of(tree: exp.Expression) -> tuple[str, str, bool] | None:
    """Return what SELECT set_config(name, value, is_local) sets; None for any other statement."""
    if not isinstance(tree, exp.Select) or len(tree.expressions) != 1 or tree.args.get("from_"):
        return None
    call = tree.expressions[0].unalias()
    call = call.expression if isinstance(call, exp.Dot) else call
    if not isinstance(call, exp.Anonymous) or call.name.lower() != "set_config" or len(call.expressions) != 3:
        return None
    name, value, local = (each.this if isinstance(each, exp.Cast) else each for each in call.expressions)
    if not (
        isinstance(name, exp.Literal) and isinstance(value, exp.Literal) and isinstance(local, exp.Boolean)
    ):
        raise unknown()
    return name.name, value.name, bool(local.this)


def run(tree: exp.Expression, catalogue: Catalogue, facts: Facts) -> FreeAnswer:
    """Answer a statement about the catalogue."""
    try:
        written = write(tree, catalogue, facts)
    except (SqlglotError, RecursionError, ValueError, AttributeError, IndexError):
        raise unknown() from None
    return catalogue.run(written)


def write(tree: exp.Expression, catalogue: Catalogue, facts: Facts) -> str:
    """Return SQL for the catalogue's engine, from allowed nodes alone."""
    named = {each.alias_or_name.lower() for each in tree.find_all(exp.CTE)}
    changed = tree.copy()
    for node in list(changed.expressions) if isinstance(changed, exp.Select) else []:
        _name_output(node)
    for node in reversed(list(changed.walk())):  # inner nodes first
        rewritten = _rewrite(node, catalogue, facts, named)
        if rewritten is node:
            continue
        if node is changed:
            changed = rewritten
        else:
            node.replace(rewritten)
    for node in changed.walk():
        if type(node) not in _ALLOWED:
            raise unknown()
        if isinstance(node, exp.Anonymous) and node.name.lower() not in (*MACROS, *_WRITTEN):
            raise unknown()
    return changed.sql(dialect="duckdb")


_WRITTEN = (
    "regclass_name",
    "type_name",
    "len",
    "unnest",
    "generate_series",
    "array_to_string",
    "current_database_name",
)


def _name_output(node: Any) -> None:
    """Name an output as PostgreSQL would: after its function, its cast's column, or ?column?."""
    if isinstance(node, exp.Alias | exp.Column | exp.Star | exp.Aliases) or node.is_star:
        return
    inner = node
    while isinstance(inner, exp.Cast | exp.Paren | exp.Collate):
        inner = inner.this
    if isinstance(inner, exp.Dot):
        inner = inner.expression
    name = "?column?"
    if isinstance(inner, exp.Column):
        name = inner.name
    elif isinstance(inner, exp.Anonymous):
        name = inner.name.lower()
    elif isinstance(inner, exp.CurrentUser | exp.CurrentSchema | exp.SessionUser | exp.CurrentCatalog):
        name = inner.sql_name().lower()
    elif isinstance(inner, exp.Func) and not isinstance(inner, exp.Case | exp.And | exp.Or):
        name = "version" if isinstance(inner, exp.CurrentVersion) else inner.sql_name().lower()
    elif isinstance(inner, exp.Case):
        name = "case"
    node.replace(exp.alias_(node.copy(), name, quoted=True))


def _rewrite(node: Any, catalogue: Catalogue, facts: Facts, named: set[str]) -> Any:
    """Return what stands for a node of PostgreSQL's, whose inner nodes are rewritten already."""
    if isinstance(node, exp.Table):
        return _unnest(node) if _is_unnest(node.this) else _table(node, catalogue.policy, named)
    if isinstance(node, exp.Cast):
        return _cast(node, catalogue)
    if isinstance(node, exp.Func) and not isinstance(node, exp.Collate):
        return _function(node, catalogue, facts)
    return _plain(node)


def _plain(node: Any) -> Any:
    """Return syntax that only PostgreSQL has in a form that others have too."""
    if (
        isinstance(node, exp.Dot)
        and isinstance(node.this, exp.Identifier)
        and node.this.name.lower() in SYSTEM
    ):
        return node.expression
    if isinstance(node, exp.Dot) and isinstance(node.this, exp.Paren):  # a part of an index's columns
        return exp.Null()
    if isinstance(node, exp.ByteString):  # E'...'
        return exp.Literal.string(node.name.replace("\\n", "\n").replace("\\t", "\t"))
    if isinstance(node, exp.Collate):
        return node.this
    if isinstance(node, exp.Column) and node.args.get("db"):
        return exp.Column(this=node.this.copy(), table=node.args["table"].copy())
    if isinstance(node, exp.Operator):
        kind = _OPERATORS.get(str(node.args["operator"]).rpartition(".")[2])
        return kind(this=node.this, expression=node.expression) if kind else node
    if isinstance(node, exp.EQ | exp.NEQ) and node.this.name in _FUNCTIONS and node.expression.is_int:
        return type(node)(this=node.this.copy(), expression=exp.Literal.string(node.expression.name))
    if isinstance(node, exp.Any):
        inner = node.this.this if isinstance(node.this, exp.Paren) else node.this
        return exp.Any(this=_array(inner) if isinstance(inner, exp.Literal) else inner)
    return node


def _array(text: exp.Literal) -> exp.Array:
    """Return an array that is written as PostgreSQL's text: {a,"b"}."""
    parts = [part.strip().strip('"') for part in text.name.strip("{}").split(",")]
    return exp.Array(expressions=[exp.Literal.string(part) for part in parts if part])


def _unnest(node: exp.Table) -> exp.Unnest:
    alias = node.args.get("alias") or exp.TableAlias(this=exp.to_identifier("unnest"))
    columns = alias.args.get("columns") or [alias.this.copy()]
    named = exp.TableAlias(this=alias.this.copy(), columns=columns)
    return exp.Unnest(expressions=list(_called(node.this).expressions), alias=named)


def _called(node: Any) -> Any:
    return node.expression if isinstance(node, exp.Dot) else node


def _is_unnest(node: Any) -> bool:
    return isinstance(_called(node), exp.Anonymous) and _called(node).name.lower() == "unnest"


def _table(node: exp.Table, policy: Policy, named: set[str]) -> exp.Expression:
    if not isinstance(node.this, exp.Identifier):  # a function, whose name is looked at as such
        if node.db.lower() in SYSTEM:
            node.set("db", None)
        return node
    if node.catalog.lower() not in ("", policy.id.lower()):
        return node
    name, schema = node.name.lower(), node.db.lower()
    if not schema and name in named:
        return node
    if schema == "information_schema":
        name = f"information_schema_{name}"
    if schema in ("", "public") and policy.table(name) is not None:
        node.set("db", None)
        node.set("catalog", None)
        return node
    if name not in _KNOWN:
        raise Refused("42P01", "There is no such table. information_schema.tables lists what there is.")
    alias = node.args.get("alias") or exp.TableAlias(this=exp.to_identifier(node.name, quoted=True))
    changed = node.copy()
    changed.set("this", exp.to_identifier(name))
    changed.set("db", exp.to_identifier("catalogue"))
    changed.set("catalog", None)
    changed.set("alias", alias)
    return changed


def _cast(node: exp.Cast, catalogue: Catalogue) -> Any:
    """Return casts to the types that only PostgreSQL has: names of tables and types, and its own texts."""
    target = node.to.sql(dialect="postgres").lower().rpartition(".")[2].strip('"')
    inner = node.this
    if isinstance(inner, exp.Cast) and isinstance(inner.this, exp.Literal) and target.startswith("reg"):
        inner = inner.this
    if target in ("regclass", "regtype", "regproc", "regnamespace", "regrole"):
        if isinstance(inner, exp.Literal) and inner.is_string:
            name = inner.name.rpartition(".")[2].strip('"').lower()
            if target == "regproc":  # a name here, a number in PostgreSQL
                return exp.Literal.string(name)
            number = {**_SYSTEM_NUMBERS, **catalogue.numbers}.get(name) if target == "regclass" else None
            number = number or (BY_NAME[name].oid if name in BY_NAME else 0)
            return exp.cast(exp.Literal.number(number), "uinteger", dialect="duckdb")
        wanted = {"regclass": "regclass_name", "regtype": "type_name"}.get(target)
        if wanted and not isinstance(inner, exp.Cast):
            return exp.Anonymous(this=wanted, expressions=[inner])
        return inner
    if target in ("oid", "xid", "cid") and not isinstance(inner, exp.Literal):
        return inner
    texts = ("name", "char", "bpchar", "varchar", "text", "unknown", "citext", "json", "jsonb", "anyarray",
             "pg_node_tree", "aclitem", "cstring")  # fmt: skip
    if target in texts:
        return exp.cast(inner, "varchar", dialect="duckdb")
    if target.endswith("[]"):
        plain = "varchar[]" if target[:-2] in texts else "bigint[]"
        return exp.cast(inner, plain, dialect="duckdb")
    if target in ("oid", "xid"):
        return exp.cast(inner, "bigint", dialect="duckdb")
    return node


def _function(node: Any, catalogue: Catalogue, facts: Facts) -> Any:
    """Return constants of the session in place of functions, and PostgreSQL's array functions as others."""
    constants = {
        "currentuser": facts.user, "sessionuser": facts.user, "currentrole": facts.user, "user": facts.user,
        "currentschema": "public", "currentcatalog": facts.database, "currentdatabase": facts.database,
        "version": facts.version, "currentversion": facts.version,
    }  # fmt: skip
    name = (node.name if isinstance(node, exp.Anonymous) else node.sql_name()).lower()
    values = node.expressions if isinstance(node, exp.Anonymous) else []
    if name.replace("_", "") in constants:
        return exp.Literal.string(constants[name.replace("_", "")])
    if name.replace("_", "") == "currentschemas":
        return exp.Array(expressions=[exp.Literal.string("public")])
    if isinstance(node, exp.ArrayToString):
        return exp.Anonymous(this="array_to_string", expressions=[node.this, node.expression])
    if isinstance(node, exp.ExplodingGenerateSeries):
        return _series(node.args["start"], node.args["end"])
    if isinstance(node, exp.Explode):
        return exp.Anonymous(this="unnest", expressions=[node.this])
    if name in ("to_regtype", "to_regclass", "to_regnamespace"):
        return _number(name, values[0].name.lower(), catalogue)
    if name in ("generate_subscripts", "array_upper", "cardinality"):
        return _of_array(name, values[0])
    if name == "current_setting":
        return _text_or_null(facts.settings.get(values[0].name.lower()))
    return exp.Null() if name in _NOTHING or isinstance(node, exp.JSONObject) else node


def _series(start: exp.Expression, end: exp.Expression) -> exp.Expression:
    """Return a short series: up to a small number, or an array's length."""
    is_small = isinstance(end, exp.Literal) and end.is_int and int(end.name) <= LONGEST_SERIES
    if not isinstance(start, exp.Literal) or not (is_small or isinstance(end, exp.Anonymous)):
        raise unknown()
    return exp.Anonymous(this="generate_series", expressions=[start, end])


def _number(function: str, name: str, catalogue: Catalogue) -> exp.Expression:
    known = {"to_regclass": catalogue.numbers, "to_regtype": {each: BY_NAME[each].oid for each in BY_NAME}}
    number = known.get(function, {}).get(name)
    return exp.Null() if number is None else exp.Literal.number(number)


def _of_array(function: str, array: exp.Expression) -> exp.Expression:
    size = exp.Anonymous(this="len", expressions=[array])
    if function != "generate_subscripts":
        return size
    series = exp.Anonymous(this="generate_series", expressions=[exp.Literal.number(1), size])
    return exp.Anonymous(this="unnest", expressions=[series])


def _text_or_null(value: str | None) -> exp.Expression:
    return exp.Null() if value is None else exp.Literal.string(value)
