from rhale.engines.serial import map_chunks


def test_results_come_in_order_and_no_chunk_is_read_before_its_turn():
    read = []
    chunks = (read.append(number) or number for number in range(3))
    results = map_chunks(lambda number: number**2, chunks)
    assert read == []
    assert next(results) == 0
    assert read == [0]
    assert list(results) == [1, 4]
