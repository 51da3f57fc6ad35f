"""Missing: what happens to predictions without the value of a feature."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Missing:
    """What happens to predictions when the value of a feature is removed.

    Attributes
    ----------
    count : int
        Rows that have no value in the table.
    share : float
        Their share of the weight.
    mean, std : float
        Mean change of the prediction when the value is removed, over the rows that have one, and
        how much it differs between them.
    rows : float
        Effective number of rows that have a value.

    Examples
    --------
    >>> Missing(count=5, share=0.05, mean=-2.0, std=1.0, rows=100.0).standard_error
    0.1
    """

    count: int
    share: float
    mean: float
    std: float
    rows: float

    @property
    def standard_error(self) -> float:
        """Uncertainty of `mean`, in units of the output."""
        return self.std / self.rows**0.5 if self.rows > 0 else float("nan")
