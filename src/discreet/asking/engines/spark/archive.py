"""Stores the classes that Spark loads for a question: a first answer then takes two thirds of the time.

python -m discreet.asking.engines.spark.archive      once for each version of PySpark or Java; some 180 MB
"""

import os
import sys
import tempfile
from contextlib import closing
from pathlib import Path

from discreet.asking.engines.base import cannot_open
from discreet.asking.engines.spark import SparkEngine
from discreet.asking.engines.spark.java import archive_path
from discreet.asking.planning import plan_exact
from discreet.asking.policy import from_arguments
from discreet.asking.queries import read_question

QUESTIONS = (
    "SELECT city, COUNT(*) AS n, SUM(debt) AS s FROM t GROUP BY city",
    "SELECT COUNT(DISTINCT person) AS n, MEDIAN(debt) AS m FROM t",
)
PATIENCE_S = 300


def store() -> Path:
    """Start a Spark, rehearse on invented rows, and keep what its Java had loaded when it ended."""
    import pyspark

    archive = archive_path(pyspark.__version__)
    if archive is None:
        cannot_open()
    archive.parent.mkdir(parents=True, exist_ok=True)
    archive.unlink(missing_ok=True)  # Java adds no archive to another
    with tempfile.TemporaryDirectory(dir=archive.parent) as folder:
        made = Path(folder) / archive.name
        option = f'spark.driver.extraJavaOptions="-XX:ArchiveClassesAtExit={made}"'
        os.environ["PYSPARK_SUBMIT_ARGS"] = f"--conf '{option}' pyspark-shell"
        _rehearse(Path(folder) / "t.parquet")
        _end_java()
        if not made.is_file():
            cannot_open()
        made.replace(archive)  # whole or not at all, for a process that starts meanwhile
    return archive


def _rehearse(path: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    people = {"person": [1, 1, 2], "city": ["Ottawa", "Toronto", "Ottawa"], "debt": [1.5, 2.5, None]}
    pyarrow.parquet.write_table(pyarrow.table(people), path)
    policy = from_arguments(
        sources={"t": str(path)},
        id="t",
        unit="person",
        budget={"rho": 1},
        bounds={"debt": (0, 100)},
        keys={"city": ["Ottawa", "Toronto"]},
    )
    with closing(SparkEngine(policy, address="local[2]")) as engine:
        for text in QUESTIONS:
            for plans in plan_exact(read_question(text, engine.policy), salt=1):
                for plan in plans.plans:
                    engine.run(plan)


def _end_java() -> None:
    """End Java by closing its input; it stores its classes last."""
    from pyspark import SparkContext

    gateway = SparkContext._gateway
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait(PATIENCE_S)


if __name__ == "__main__":
    sys.stdout.write(f"{store()}\n")
