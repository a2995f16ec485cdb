from discreet.server.pages.sessions import LASTS_S, MOST, Sessions


def test_a_session_ends_when_it_is_closed_and_when_its_time_is_over():
    now = [0.0]
    sessions = Sessions(clock=lambda: now[0])
    closed, late = sessions.open("a"), sessions.open("b")
    sessions.close(closed)
    assert sessions.find(closed) is None
    now[0] = LASTS_S - 1
    assert sessions.find(late).token == "b"
    now[0] = LASTS_S
    assert sessions.find(late) is None


def test_names_and_form_words_are_random_and_nothing_shows_them():
    sessions = Sessions()
    first, second = sessions.open("secret"), sessions.open("secret")
    assert first != second
    assert sessions.find(first).csrf != sessions.find(second).csrf
    assert len(first) >= 43
    assert "secret" not in repr(sessions.find(first))


def test_the_store_does_not_grow_without_end():
    sessions = Sessions()
    names = [sessions.open("x") for _ in range(MOST + 1)]
    assert sessions.find(names[0]) is None
    assert sessions.find(names[1]) is not None
