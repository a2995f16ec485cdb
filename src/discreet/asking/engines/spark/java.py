"""The Java under a Spark that we start: flags and an archive of classes, so that a first answer comes sooner.

A first question runs much code once and little of it often: Java would compile most of it a second time, and
load and check every class from its jar. `python -m discreet.asking.engines.spark.archive` stores the loaded
classes once, in the user's cache folder; Java itself ignores an archive of other jars or of another Java.
"""

import os
from pathlib import Path

# The second compiler waits for ten times as many calls as by default: what is hot still reaches it.
PATIENT = {"Invocation": 50_000, "MinInvocation": 6_000, "Compile": 150_000, "BackEdge": 400_000}
FLAGS = (
    *(f"-XX:Tier4{name}Threshold={count}" for name, count in PATIENT.items()),
    "-XX:InitialRAMPercentage=12.5",  # at most what Spark may take: a heap that need not grow first
    "-XX:MetaspaceSize=256m",  # classes alone are no reason to collect
    "-Xlog:disable",  # standard output is the answer's
    "-Xlog:all=error:stderr",
)

# Silent from the first moment: `spark.log.level` comes later. The gateway would set a level of its own.
LOGGING = """appender.none.type = Null
appender.none.name = none
rootLogger.level = off
rootLogger.appenderRef.none.ref = none
logger.gateway.name = org.apache.spark.api.python.PythonGatewayServer
logger.gateway.level = off
"""


def archive_path(version: str) -> Path | None:
    """Return where the classes of a PySpark are stored; None for a user without a home.

    >>> archive_path("4.3.0").name
    'spark-4.3.0.jsa'
    """
    try:
        cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    except RuntimeError:
        return None
    return Path(cache) / "discreet" / f"spark-{version}.jsa"


def java_options(version: str) -> str:
    """Return the options of Java, with the archive if there is one."""
    archive = archive_path(version)
    stored = [f'"-XX:SharedArchiveFile={archive}"'] if archive is not None and archive.is_file() else []
    return " ".join((*FLAGS, *stored))


def silence(folder: str) -> str:
    """Return the option under which Java's loggers are silent, settled in a file of a private folder."""
    path = Path(folder) / "log4j2.properties"
    path.write_text(LOGGING, encoding="utf-8")
    return f'"-Dlog4j2.configurationFile={path.as_uri()}"'
