"""TPC-H: the pricing summary, revenue change and volume by nation in their own SQL, beside plain DuckDB.

The customer is the unit; orders and line items are reached through their foreign keys; nation and region
are public. Both sides hold the tables in memory and answer the same text, so the ratio is what bounding every
customer's part, the noise and the ledger cost.

    python -m bench tpch          scale factor 0.1, into bench/results
    python -m bench.tpch 1        another one, printed
"""

import subprocess
import sys
import tempfile
from collections.abc import Callable
from fractions import Fraction
from itertools import count
from pathlib import Path

import duckdb

from bench.harness import ROUNDS, Report, Row, seconds
from discreet import Curator

TABLES = ("customer", "orders", "lineitem", "nation", "region")
NATIONS = [
    "ALGERIA", "ARGENTINA", "BRAZIL", "CANADA", "CHINA", "EGYPT", "ETHIOPIA", "FRANCE", "GERMANY", "INDIA",
    "INDONESIA", "IRAN", "IRAQ", "JAPAN", "JORDAN", "KENYA", "MOROCCO", "MOZAMBIQUE", "PERU", "ROMANIA",
    "RUSSIA", "SAUDI ARABIA", "UNITED KINGDOM", "UNITED STATES", "VIETNAM",
]  # fmt: skip

POLICY = """
[dataset]
id = "tpch"
budget = {{ epsilon = 10000 }}
[tables.customer]
source = "customer.parquet"
unit = "c_custkey"
max_groups = {max_groups}
max_rows = {max_rows}
[tables.orders]
source = "orders.parquet"
unit = {{ through = "customer", on = {{ o_custkey = "c_custkey" }} }}
max_groups = {max_groups}
max_rows = {max_rows}
[tables.lineitem]
source = "lineitem.parquet"
unit = {{ through = "orders", on = {{ l_orderkey = "o_orderkey" }} }}
max_groups = {max_groups}
max_rows = {max_rows}
[tables.lineitem.columns]
l_returnflag = {{ keys = ["A", "N", "R"] }}
l_linestatus = {{ keys = ["F", "O"] }}
l_quantity = {{ bounds = [0, 50] }}
l_extendedprice = {{ bounds = [0, 105000] }}
l_discount = {{ bounds = [0, 0.1] }}
l_tax = {{ bounds = [0, 0.08] }}
[public.nation]
source = "nation.parquet"
key = "n_nationkey"
[public.nation.columns]
n_name = {{ keys = {nations} }}
[public.region]
source = "region.parquet"
key = "r_regionkey"
"""

PRICING_SUMMARY = """
select l_returnflag, l_linestatus,
       sum(l_quantity) as sum_qty,
       sum(l_extendedprice) as sum_base_price,
       sum(l_extendedprice * (1 - l_discount)) as sum_disc_price,
       sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)) as sum_charge,
       avg(l_quantity) as avg_qty,
       avg(l_extendedprice) as avg_price,
       avg(l_discount) as avg_disc,
       count(*) as count_order
from lineitem
where l_shipdate <= date '1998-12-01' - interval '90' day
group by l_returnflag, l_linestatus
order by l_returnflag, l_linestatus
"""

REVENUE_CHANGE = """
select sum(l_extendedprice * l_discount) as revenue
from lineitem
where l_shipdate >= date '1994-01-01'
  and l_shipdate < date '1994-01-01' + interval '1' year
  and l_discount between 0.06 - 0.01 and 0.06 + 0.01
  and l_quantity < 24
"""

# Without the supplier, who is no customer: volume by the nation that ordered.
VOLUME_BY_NATION = """
select n_name, sum(l_extendedprice * (1 - l_discount)) as revenue
from customer, orders, lineitem, nation, region
where c_custkey = o_custkey
  and l_orderkey = o_orderkey
  and c_nationkey = n_nationkey
  and n_regionkey = r_regionkey
  and r_name = 'ASIA'
  and o_orderdate >= date '1994-01-01'
  and o_orderdate < date '1994-01-01' + interval '1' year
group by n_name
order by revenue desc
"""

QUESTIONS = {
    "pricing summary": PRICING_SUMMARY,
    "revenue change": REVENUE_CHANGE,
    "volume by nation": VOLUME_BY_NATION,
}


def make_tables(folder: Path, scale: float) -> None:
    """The tables as Parquet files, by the public generator."""
    generator = Path(sys.executable).parent / "tpchgen-cli"
    subprocess.run(
        [generator, "parquet", "-s", str(scale), "--tables", ",".join(TABLES), "--output-dir", folder],
        check=True,
        capture_output=True,
    )


def open_tables(folder: Path, *, max_groups: int, max_rows: int, ledger: Path) -> Curator:
    """The tables under a policy with these limits for every table."""
    policy = ledger.with_suffix(".toml")
    text = POLICY.format(max_groups=max_groups, max_rows=max_rows, nations=NATIONS)
    policy.write_text(text.replace('source = "', f'source = "{folder.as_posix()}/'))
    return Curator.from_policy(policy, ledger=ledger)


def open_plain(folder: Path) -> duckdb.DuckDBPyConnection:
    """The tables in plain DuckDB."""
    plain = duckdb.connect(config={"threads": 2})
    for name in TABLES:
        plain.execute(f"CREATE TABLE {name} AS FROM '{folder / name}.parquet'")
    return plain


def run(rivals: object = None, *, scale: float = 0.1) -> Report:
    """Each question in turns with plain DuckDB, at limits that few customers exceed."""
    report = Report(f"TPC-H at scale factor {scale}: a private answer, beside DuckDB's own on the same text")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_tables(folder, scale)
        plain = open_plain(folder)
        prices = (Fraction(1) + Fraction(k, 1000) for k in count())  # a price again would be answered free
        with open_tables(folder, max_groups=4, max_rows=50, ledger=folder / "tpch.ledger") as curator:
            for what, text in QUESTIONS.items():
                ours, theirs = _in_turns(
                    lambda text=text: curator.ask(text, epsilon=next(prices)),  # type: ignore[misc]
                    lambda text=text: plain.execute(text).fetchall(),  # type: ignore[misc]
                )
                report.add(Row(what, ours, "DuckDB, not private", theirs))
    return report


def _in_turns(ours: Callable[[], object], theirs: Callable[[], object]) -> tuple[float, float]:
    pairs = [(seconds(ours), seconds(theirs)) for _ in range(ROUNDS)]
    return min(own for own, _ in pairs), min(other for _, other in pairs)


if __name__ == "__main__":
    print(run(scale=float(sys.argv[1]) if len(sys.argv) > 1 else 0.1).table({}))
