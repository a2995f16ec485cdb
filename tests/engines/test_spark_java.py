"""Flags and archive of the Java under a Spark that discreet starts."""

import json
import shlex
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pyspark
import pytest

from discreet.asking.engines.spark import rows_of
from discreet.asking.engines.spark.java import FLAGS, archive_path, java_options

VERSION = pyspark.__version__


@pytest.fixture
def cache(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "a cache"))
    return tmp_path / "a cache"


def java(options):
    call = ["java", *shlex.split(options), "-version"]
    return subprocess.run(call, capture_output=True, text=True, check=False)


def test_java_takes_every_flag_and_says_nothing_of_it(cache):
    ended = java(java_options(VERSION))
    assert ended.returncode == 0
    assert ended.stdout == ""


@pytest.mark.parametrize("theirs", ["-XX:+UseSerialGC", "-XX:+UseG1GC", "-XX:TieredStopAtLevel=1", "-Xmx64m"])
def test_flags_of_the_owner_go_with_ours(cache, theirs):
    assert java(f"{java_options(VERSION)} {theirs}").returncode == 0


def test_an_unknown_flag_would_be_noticed(cache):
    assert java(java_options(VERSION) + " -XX:Tier4NoSuchThreshold=1").returncode != 0


def test_the_archive_is_used_once_it_is_there(cache):
    assert shlex.split(java_options(VERSION)) == list(FLAGS)
    path = archive_path(VERSION)
    assert path.parent == cache / "discreet"
    path.parent.mkdir(parents=True)
    path.touch()
    assert shlex.split(java_options(VERSION)) == [*FLAGS, f"-XX:SharedArchiveFile={path}"]


def test_an_archive_that_is_none_is_ignored_without_a_word(cache):
    path = archive_path(VERSION)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"no archive at all" * 1000)
    ended = java(java_options(VERSION))
    assert ended.returncode == 0
    assert ended.stdout == ""


def test_a_spark_that_we_start_says_nothing_but_what_java_itself_must(tmp_path):
    (tmp_path / "t.csv").write_text("person\n1\n2\n")
    words = ["ask", "t.csv", "SELECT COUNT(*) AS n FROM t", "--unit", "person", "--epsilon", "0.5", "--json"]
    call = [sys.executable, "-m", "discreet", *words, "--budget", "1", "--engine", "local[2]"]
    ended = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert json.loads(ended.stdout)["rows"]
    assert set(ended.stderr.splitlines()) <= {"WARNING: Using incubator modules: jdk.incubator.vector"}


@pytest.mark.soak
def test_the_archive_is_stored_and_fits_the_java_that_made_it(cache):
    stored = subprocess.run(
        [sys.executable, "-m", "discreet.asking.engines.spark.archive"],
        capture_output=True,
        text=True,
        check=True,
    )
    path = archive_path(VERSION)
    assert stored.stdout == f"{path}\n"
    assert list(path.parent.iterdir()) == [path]
    assert path.stat().st_size > 10**8


def test_a_parquet_file_says_how_many_rows_it_has_and_nothing_else_does(tmp_path):
    near, broken = tmp_path / "t.parquet", tmp_path / "b.parquet"
    pq.write_table(pa.table({"a": [1, 2, 3]}), near)
    broken.write_bytes(b"no parquet")
    assert rows_of(near) == rows_of(str(near)) == 3
    assert rows_of(broken) is None
    assert rows_of(tmp_path) is None
    assert rows_of("catalogue://bank.accounts") is None
    assert rows_of(pa.table({"a": [1]})) is None
