from bench.harness import Report, Row, seconds, show_time


def test_a_ratio_above_its_limit_is_missed():
    rows = [
        Row("kept", 1.0, "rival", 2.0, 0.5),
        Row("missed", 1.1, "rival", 2.0, 0.5),
        Row("no limit", 9.0, "rival", 1.0),
    ]
    assert [row.what for row in Report("x", rows).missed] == ["missed"]


def test_a_time_without_a_rival_has_a_limit_in_seconds():
    assert not Row("first draw", 0.011, limit=0.010).kept
    assert Row("first draw", 0.009, limit=0.010).kept


def test_a_report_is_written_as_table_and_json(tmp_path):
    table = Report("x", [Row("what", 1e-9, "rival", 1e-6, 1 / 200)]).write(tmp_path / "noise", {})
    assert "| what | 1 ns | rival | 1 µs | 1/1000 | 1/200 |" in table
    assert (tmp_path / "noise.json").exists()
    assert (tmp_path / "noise.md").read_text() == table


def test_times_are_minima_in_readable_units():
    assert 0 <= seconds(lambda: None, rounds=3) < 1
    assert [show_time(t) for t in (2, 0.0123, 4.56e-6, 7e-9)] == ["2 s", "12.3 ms", "4.56 µs", "7 ns"]
