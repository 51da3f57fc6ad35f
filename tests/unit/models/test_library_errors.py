import pytest

from rhale.models.libraries import first_line


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("[13:58:55] /src/common/json.cc:409: Expecting digit\nStack trace:", "Expecting digit"),
        ("catboost/libs/model/model.cpp:1185: Incorrect file", "Incorrect file"),
        ("nothing to leave out: 5", "nothing to leave out: 5"),
        ("", "ValueError"),
    ],
)
def test_messages_lose_the_lines_of_source_that_raised_them(message, expected):
    assert first_line(ValueError(message)) == expected
