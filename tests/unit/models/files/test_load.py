from pathlib import Path

import pytest

from rhale.errors import BadFileError
from rhale.models.files.load import (
    MODEL_FORMATS,
    kind_of_content,
    kind_of_file,
    list_kinds,
    load_named,
)


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"CBM1....", "CatBoost"),
        (b"tree\nversion=v4", "LightGBM text"),
        (b"tree\r\nversion=v4", "LightGBM text"),
        (b'{"learner"', "XGBoost JSON"),
        (b"\x08\x07", "ONNX"),
        (b"anything", None),
    ],
)
def test_the_first_bytes_tell_the_kind(content, kind):
    assert kind_of_content(content) == kind


def test_both_formats_of_xgboost_begin_alike():
    assert kind_of_file(Path("m.ubj"), b"{L") == "XGBoost UBJ"
    assert kind_of_file(Path("m.json"), b"{L") == "XGBoost JSON"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("m.cbm", b"{}", "named as CatBoost, but its content is XGBoost JSON"),
        ("m.json", b"CBM1", "named as XGBoost JSON, but its content is CatBoost"),
        (
            "m.model",
            b"CBM1",
            r"no kind that rhale reads\. By its content it is CatBoost; rename it",
        ),
        ("m.joblib", b"x\x9c", "pickles, also compressed ones, only by their hash"),
        ("fx.json", b'{"rhale_format": 3', "is a saved explanation, not a model"),
    ],
)
def test_name_and_content_must_agree(name, content, message):
    with pytest.raises(BadFileError, match=message):
        kind_of_file(Path(name), content)


def test_every_kind_is_listed_with_its_ending():
    assert all(f"{kind} ({suffix})" in list_kinds() for suffix, kind in MODEL_FORMATS.items())


def test_an_object_is_imported_by_its_name():
    assert load_named("os:path.join")("a", "b") == str(Path("a") / "b")
    with pytest.raises(BadFileError, match=r"'os' has no 'path\.nothing'"):
        load_named("os:path.nothing")
    with pytest.raises(BadFileError, match=r"'no\.such' cannot be imported"):
        load_named("no.such:thing")
