from discreet.apps.server.pages.session_auth import LASTS_S, MOST_OF_A_TOKEN, BrowserSessions


def test_a_session_ends_when_it_is_closed_and_when_its_time_is_over():
    now = [0.0]
    sessions = BrowserSessions(clock=lambda: now[0])
    closed, late = sessions.open("a"), sessions.open("b")
    sessions.close(closed)
    assert sessions.find(closed) is None
    now[0] = LASTS_S - 1
    assert sessions.find(late).token == "b"
    now[0] = LASTS_S
    assert sessions.find(late) is None


def test_names_and_form_words_are_random_and_nothing_shows_them():
    sessions = BrowserSessions()
    first, second = sessions.open("secret"), sessions.open("secret")
    assert first != second
    assert sessions.find(first).csrf != sessions.find(second).csrf
    assert len(first) >= 43
    assert "secret" not in repr(sessions.find(first))


def test_the_store_does_not_grow_without_end(monkeypatch):
    monkeypatch.setattr("discreet.apps.server.pages.session_auth.MOST_SESSIONS", 10)
    sessions = BrowserSessions()
    names = [sessions.open(f"token {number}") for number in range(11)]
    assert [sessions.find(name) is None for name in names] == [True] + [False] * 10


def test_who_signs_in_again_and_again_ends_their_own_sessions_and_nobody_elses():
    sessions = BrowserSessions()
    other = sessions.open("other")
    names = [sessions.open("mine") for _ in range(MOST_OF_A_TOKEN + 1)]
    assert [sessions.find(name) is None for name in names] == [True] + [False] * MOST_OF_A_TOKEN
    assert sessions.find(other) is not None
