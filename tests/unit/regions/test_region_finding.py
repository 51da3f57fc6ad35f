"""What a search says where it says nothing."""

import numpy as np

from rhale.regions.settings import Finding


def test_a_finding_without_rules_explains_nothing():
    found = Finding(reason="alike")
    assert (found.rules, found.gains) == ((), ())
    assert found.share == 0
    assert np.isnan(found.error)
    assert found.gradual == -1
    assert found.partner_share.size == 0
