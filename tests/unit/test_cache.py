"""The plan cache, over entries that count what happens to them."""

import threading

import pytest

from nvmath._core.cache import PlanCache


class Entry:
    def __init__(self, nbytes=10, pinned=False):
        self._nbytes, self._pinned, self._stack, self._stamp, self.closed = nbytes, pinned, None, 0, 0
        self.answers = 0

    def _answered(self):
        answers, self.answers = self.answers, 0
        return answers

    def free(self):
        self.closed += 1


def used(cache, key, **keywords):
    """What a call does: take, else make, then give."""
    entry = cache.take(key) or Entry(**keywords)
    cache.give(key, entry)
    return entry


def test_take_removes_and_give_returns():
    cache = PlanCache()
    assert cache.take("a") is None
    entry = used(cache, "a")
    assert cache.take("a") is entry
    assert cache.take("a") is None
    cache.give("a", entry)
    assert cache.take("a") is entry


def test_counts():
    cache = PlanCache(max_entries=9, max_nbytes=99)
    used(cache, "a")
    used(cache, "a")
    used(cache, "b", nbytes=20)
    info = cache.info()
    assert (info.hits, info.misses, info.entries, info.nbytes, info.pinned) == (1, 2, 2, 30, 0)
    assert (info.max_entries, info.max_nbytes, info.enabled) == (9, 99, True)


def test_two_calls_at_once_get_two_entries():
    cache = PlanCache()
    first, second = Entry(), Entry()
    cache.give("a", first)
    cache.give("a", second)
    assert {cache.take("a"), cache.take("a")} == {first, second}
    assert cache.info().entries == 2


def test_the_least_recently_used_leaves():
    cache = PlanCache(max_entries=2)
    a, b = used(cache, "a"), used(cache, "b")
    used(cache, "a")
    c = used(cache, "c")
    assert (a.closed, b.closed, c.closed) == (0, 1, 0)
    assert cache.take("b") is None


def test_bytes_are_bounded():
    cache = PlanCache(max_nbytes=25)
    a, b, c = (used(cache, key) for key in "abc")
    assert (a.closed, b.closed, c.closed) == (1, 0, 0)
    assert cache.info().nbytes == 20
    large = used(cache, "large", nbytes=100)
    assert (large.closed, b.closed, c.closed) == (1, 0, 0)  # no others leave for what is too large by itself
    assert cache.info().nbytes == 20


def test_the_usual_bound_of_bytes_grows_where_there_is_room():
    cache = PlanCache()
    assert cache.info().max_nbytes == 2**30
    cache.make_room(2**20)  # less than there is
    assert cache.info().max_nbytes == 2**30
    cache.make_room(2**33)
    assert cache.info().max_nbytes == 2**33
    a, b = used(cache, "a", nbytes=2**32), used(cache, "b", nbytes=2**32)
    assert (a.closed, b.closed, cache.info().nbytes) == (0, 0, 2**33)


@pytest.mark.parametrize("configured", [False, True])
def test_a_bound_of_bytes_that_was_chosen_stays(configured):
    cache = PlanCache() if configured else PlanCache(max_nbytes=25)
    if configured:
        cache.make_room(2**33)
        cache.configure(max_nbytes=25)
    cache.make_room(2**33)
    cache.configure(max_entries=9)
    assert cache.info().max_nbytes == 25
    assert [used(cache, key).closed for key in "abc"] == [0, 0, 0]
    assert cache.info().nbytes == 20


def test_what_is_under_way_is_not_evicted():
    cache = PlanCache(max_entries=1)
    used(cache, "a")
    a = cache.take("a")
    used(cache, "b")
    assert a.closed == 0
    cache.give("a", a)
    assert cache.info().entries <= 2


def test_pinned_entries_stay():
    cache = PlanCache(max_entries=1)
    pinned = used(cache, "a", pinned=True)
    others = [used(cache, key) for key in "bc"]
    assert pinned.closed == 0
    assert [other.closed for other in others] == [1, 0]  # a pinned one cannot leave, so it does not count
    cache.clear()
    assert cache.info().pinned == 1
    assert cache.take("a") is pinned


def test_discard_closes():
    cache = PlanCache()
    used(cache, "a")
    entry = cache.take("a")
    cache.discard(entry)
    assert cache.info().entries == cache.info().nbytes == 0
    stranger = Entry()
    cache.discard(stranger)  # one that never was inside
    assert entry.closed == stranger.closed == 1


def test_without_a_key_nothing_is_kept():
    cache = PlanCache()
    entry, pinned = Entry(), Entry(pinned=True)
    cache.give(None, entry)
    cache.give(None, pinned)
    assert (entry.closed, pinned.closed) == (1, 0)
    assert cache.info().entries == 1


def test_lease_settles_a_key_that_cannot_be_hashed():
    cache = PlanCache()
    entry = used(cache, ("a", 1))
    assert cache.lease(("a", 1), lambda key: pytest.fail("it can be hashed")) == (("a", 1), entry)
    cache.give(("a", 1), entry)
    assert cache.lease(["a", 1], tuple) == (("a", 1), entry)
    assert cache.lease(["a", 1], tuple) == (("a", 1), None)
    assert cache.lease(["a"], lambda key: None) == (None, None)
    assert (cache.info().hits, cache.info().misses) == (2, 2)


def test_an_entry_that_never_comes_back_leaves_the_books():
    """Ctrl-C can come between lease and give."""
    cache = PlanCache()
    used(cache, "a")
    cache.take("a")
    assert (cache.info().entries, cache.info().nbytes) == (0, 0)
    assert cache.take("a") is None


def test_clear_captured_drops_what_graphs_pinned():
    cache = PlanCache()
    pinned = used(cache, "a", pinned=True)
    cache.clear()
    assert pinned.closed == 0
    cache.clear(captured=True)
    assert pinned.closed == 1
    assert cache.info().entries == 0


@pytest.mark.parametrize("bad", [{"max_entries": 1.5}, {"max_nbytes": "1"}, {"max_entries": True}, {"enabled": 1}])
def test_configure_takes_only_what_it_says(bad):
    with pytest.raises(TypeError, match=next(iter(bad))):
        PlanCache().configure(**bad)


def test_clear_closes_what_is_idle():
    cache = PlanCache()
    entries = [used(cache, key) for key in "abc"]
    taken = cache.take("b")
    cache.clear()
    assert [entry.closed for entry in entries] == [1, 0, 1]
    cache.give("b", taken)
    assert cache.take("b") is taken


def test_switched_off_keeps_nothing_but_what_is_pinned():
    cache = PlanCache()
    a = used(cache, "a")
    cache.configure(enabled=False)
    b = used(cache, "b")
    assert a.closed == b.closed == 1
    pinned = used(cache, "c", pinned=True)
    assert pinned.closed == 0


def test_what_comes_back_after_the_cache_was_switched_off_does_not_stay():
    cache = PlanCache()
    used(cache, "a")
    entry = cache.take("a")
    cache.configure(enabled=False)
    cache.give("a", entry)
    assert cache.take("a") is None or entry.closed == 0


@pytest.mark.parametrize("name", ["max_entries", "max_nbytes"])
def test_bounds_are_not_negative(name):
    cache = PlanCache()
    with pytest.raises(ValueError, match=f"{name} must be at least 0, not -5"):
        cache.configure(**{name: -5})


def test_lower_bounds_act_at_once():
    cache = PlanCache()
    entries = [used(cache, key) for key in "abcd"]
    cache.configure(max_entries=1)
    assert [entry.closed for entry in entries] == [1, 1, 1, 0]


@pytest.mark.parametrize("bound", [1, 3, 100])
def test_threads(bound):
    cache = PlanCache(max_entries=bound)
    lost = []

    def work(i):
        for turn in range(300):
            key = (turn * 7 + i) % 5
            entry = cache.take(key) or Entry()
            if entry.closed or getattr(entry, "owner", None) is not None:
                lost.append(key)
            entry.owner = i
            entry.owner = None
            cache.give(key, entry)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not lost
    info = cache.info()
    assert info.nbytes == 10 * info.entries
    assert info.entries <= max(bound, 8)


def test_the_environment_switches_off(monkeypatch):
    monkeypatch.setenv("NVMATH_PLAN_CACHE", "0")
    assert not PlanCache().info().enabled
    monkeypatch.setenv("NVMATH_PLAN_CACHE", "1")
    assert PlanCache().info().enabled


def test_a_signal_handler_may_use_the_cache_that_its_thread_is_in():
    cache, calls = PlanCache(max_entries=1), []

    class Interrupting(Entry):
        @property
        def _pinned(self):  # looked at while the lock is held
            if not calls:
                calls.append("once")
                used(cache, "from the handler")
            return False

        @_pinned.setter
        def _pinned(self, value):
            pass

    used(cache, "a")
    cache.give("b", Interrupting())
    assert calls == ["once"]
    assert cache.info().entries <= 2


def test_an_interrupted_clear_keeps_the_bounds():
    cache = PlanCache()
    used(cache, "a")
    entry = cache.take("a")
    entry.free = lambda: (_ for _ in ()).throw(KeyboardInterrupt)
    cache.give("a", entry)
    with pytest.raises(KeyboardInterrupt):
        cache.clear()
    assert cache.info().max_entries == 256
    assert used(cache, "a") is cache.take("a")


def test_an_entry_that_answered_past_the_cache_counts_as_used():
    cache = PlanCache(max_entries=2)
    a, b = used(cache, "a"), used(cache, "b")
    a.answers = 3
    c = used(cache, "c")
    assert (a.closed, b.closed, c.closed) == (0, 1, 0)
    used(cache, "c")
    d = used(cache, "d")  # a has had its second chance
    assert (a.closed, c.closed, d.closed) == (1, 0, 0)
