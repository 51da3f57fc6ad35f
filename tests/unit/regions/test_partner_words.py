from rhale.output.labels import Captions
from rhale.regions.partners import Partner, Partners
from rhale.report.effects import tell_partners

WORDS = Captions({"inc": "Income"})


def test_partners_that_count_are_named_by_what_people_read():
    found = (Partner("inc", 0.6, 0.02, 1e-9), Partner("age", 0.12, 0.01, 1e-9))
    told = tell_partners(Partners("x", "y0", found), WORDS)
    assert (
        told
        == "Income accounts for 60\u00a0% of how the effect of x varies between rows, age for 12\u00a0%."
    )


def test_those_that_only_go_with_another_are_left_out():
    found = (Partner("inc", 0.6, 0.02, 1e-9), Partner("tax", 0.5, 0.02, 1e-9, is_proxy_of="inc"))
    assert "tax" not in tell_partners(Partners("x", "y0", found), WORDS)


def test_nothing_is_said_where_chance_may_explain_all():
    found = (Partner("inc", 0.001, 0.01, 0.9),)
    assert tell_partners(Partners("x", "y0", found), WORDS) == ""
    assert tell_partners(Partners("x", "y0"), WORDS) == ""
