"""Libraries of the report: there, or named with the way to install them."""

import json
import sys

import pytest

from rhale.errors import MissingExtraError
from rhale.report.charts import import_report_library


def test_a_library_that_is_there_is_given():
    assert import_report_library("json") is json


def test_a_missing_library_is_named_with_the_way_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(MissingExtraError, match=r"needs vl_convert.*pip install 'rhale\[report\]'"):
        import_report_library("vl_convert")


def test_the_reason_stays_behind_the_sentence():
    with pytest.raises(MissingExtraError) as caught:
        import_report_library("no_such_library_anywhere")
    assert isinstance(caught.value.__cause__, ModuleNotFoundError)
    assert isinstance(caught.value, ImportError)
