"""With whom the spread of a feature goes, in one short line."""

from __future__ import annotations

from rhale.report.wording import clean, isolated, listed, unbroken
from rhale.results.captions import Captions
from rhale.results.listing import write_share
from rhale.results.partners import Partners

MAX_PARTNERS_IN_TEXT, MAX_PARTNER_NAME_LETTERS = 3, 40


def tell_partners(found: Partners, captions: Captions) -> str:
    """Name the partners that count, largest share first; nothing where none does.

    Parameters
    ----------
    found : Partners
        Of one feature and output.
    captions : Captions
        What people read for features.

    Notes
    -----
    Those that only go with another partner are left out: they would be named twice.
    """
    some = [one for one in found if one.counts and one.is_proxy_of is None]
    names = [
        f"{isolated(clean(captions.feature(one.feature), MAX_PARTNER_NAME_LETTERS))} ({write_share(one.share)})"
        for one in some
    ]
    return unbroken(f"Its spread goes with {listed(names, MAX_PARTNERS_IN_TEXT)}.") if names else ""
