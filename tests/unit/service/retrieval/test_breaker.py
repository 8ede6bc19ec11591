from service.retrieval.breaker import Breaker


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_opens_after_so_many_failures_in_a_row() -> None:
    breaker = Breaker(failures=3, pause=5.0, clock=Clock())
    for _ in range(2):
        breaker.failed()
    assert not breaker.is_open
    breaker.failed()
    assert breaker.is_open


def test_a_success_starts_the_count_again() -> None:
    breaker = Breaker(failures=2, pause=5.0, clock=Clock())
    breaker.failed()
    breaker.succeeded()
    breaker.failed()
    assert not breaker.is_open


def test_lets_one_attempt_through_after_the_pause() -> None:
    clock = Clock()
    breaker = Breaker(failures=1, pause=5.0, clock=clock)
    breaker.failed()
    clock.now = 5.0
    assert not breaker.is_open
    assert breaker.is_open
    breaker.succeeded()
    assert not breaker.is_open


def test_a_failed_attempt_after_the_pause_keeps_it_open() -> None:
    clock = Clock()
    breaker = Breaker(failures=1, pause=5.0, clock=clock)
    breaker.failed()
    clock.now = 5.0
    assert not breaker.is_open
    breaker.failed()
    clock.now = 9.9
    assert breaker.is_open
    clock.now = 10.0
    assert not breaker.is_open
