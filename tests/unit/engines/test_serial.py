"""One chunk after the other, in this process."""

from rhale.engines.serial import map_chunks


def test_results_come_in_the_order_of_the_chunks():
    assert list(map_chunks(lambda chunk: 10 * chunk, [3, 1, 2])) == [30, 10, 20]


def test_a_chunk_is_read_when_its_result_is_wanted_and_not_before():
    done = []

    def chunks():
        for number in range(3):
            done.append(f"read {number}")
            yield number

    found = map_chunks(lambda number: done.append(f"work on {number}"), chunks())
    assert done == []
    next(found)
    next(found)
    assert done == ["read 0", "work on 0", "read 1", "work on 1"]


def test_no_chunks_are_no_results():
    assert list(map_chunks(lambda chunk: chunk, [])) == []
