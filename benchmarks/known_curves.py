"""Functions whose curves are known: sums of sines, and whatever is asked of independent columns."""

from dataclasses import dataclass

import numpy as np

import rhale

PLACES = np.linspace(-0.9, 0.9, 7)
PIECE = 2**14  # rows
CLOSE = 2e-3  # of the height of a curve: bins are straight, sines are not; seen with 300 rows: 5e-4


@dataclass(frozen=True)
class Sines:
    """Output k is `share[k] * sum_j weight[j] * sin(x_j)`."""

    n_features: int
    n_outputs: int = 1

    @property
    def weight(self):
        return np.linspace(1, 2, self.n_features)

    @property
    def share(self):
        return np.linspace(1, 2, self.n_outputs)

    def rows(self, n_rows):
        return np.random.default_rng(0).uniform(-1, 1, (n_rows, self.n_features))

    def answers(self, rows):
        total = np.sin(rows) @ self.weight
        return total if self.n_outputs == 1 else total[:, None] * self.share

    def slopes(self, rows):
        slopes = np.cos(rows) * self.weight
        return slopes if self.n_outputs == 1 else slopes[:, None, :] * self.share[:, None]

    def ask(self, rows):
        """Ask for answers and slopes of all rows in pieces, as `explain` does; keep nothing."""
        for start in range(0, len(rows), PIECE):
            piece = rows[start : start + PIECE]
            self.answers(piece), self.slopes(piece)

    def explain(self, rows, **options):
        options = {"n_jobs": 1, **options}
        return rhale.explain(self.answers, rows, gradient=self.slopes, **options)

    def check(self, explanation, rows, most=60):
        """Compare curves with their closed form: all, or some of many."""
        effects = list(explanation.values())
        assert len(effects) == self.n_features * self.n_outputs
        for place in np.unique(np.linspace(0, len(effects) - 1, most).astype(int)):
            feature, output = divmod(place, self.n_outputs)
            height = self.weight[feature] * self.share[output]
            known = height * (np.sin(PLACES) - np.sin(rows[:, feature]).mean())
            found = effects[place].curve(PLACES)
            np.testing.assert_allclose(found, known, rtol=0, atol=CLOSE * height)


def check_rise(effect, answers, x):
    """Compare with the average answer: columns are independent, so the curve rises as it does."""
    ends = np.array([-0.8, 0.8])
    held = [np.column_stack([np.full(len(x), end), x[:, 1:]]) for end in ends]
    low, high = (answers(rows).mean() for rows in held)
    np.testing.assert_allclose(np.diff(effect.curve(ends)), high - low, rtol=0.03)
