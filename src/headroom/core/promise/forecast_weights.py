"""Calculate the weight of each forecast: least squares with non-negative weights.

The sums behind the weights decay with time. Instead of reducing all sums in each step, new values
count more; from time to time everything is scaled back.
"""

from __future__ import annotations

from dataclasses import dataclass, field

_ROUNDS = 30
_RIDGE = 1e-3
_SCALE_BACK = 1e12


@dataclass(slots=True)
class Weighing:
    """Sums of products of forecasts (`squares`) and of forecasts with what came (`products`)."""

    weights: list[float]
    squares: list[list[float]] = field(default_factory=list)
    products: list[float] = field(default_factory=list)
    unit: float = 1.0

    def __post_init__(self) -> None:
        count = len(self.weights)
        self.squares = self.squares or [[0.0] * count for _ in range(count)]
        self.products = self.products or [0.0] * count

    def learn(self, forecasts: list[float], came: float, sureness: float, growth: float) -> None:
        """Compare what was forecast with what came; the next comparison counts `growth` more."""
        share = sureness * self.unit
        count = len(forecasts)
        for row, forecast in enumerate(forecasts):
            part = forecast * share
            if part:
                squares = self.squares[row]
                for column in range(row, count):
                    squares[column] += part * forecasts[column]
                self.products[row] += part * came
        self.unit *= growth
        if self.unit > _SCALE_BACK:
            self.scale_back()

    def scale_back(self) -> None:
        """Scale all sums so that one new comparison counts 1 again."""
        self.squares = [[value / self.unit for value in row] for row in self.squares]
        self.products = [value / self.unit for value in self.products]
        self.unit = 1.0

    def solve(self) -> None:
        """Calculate the weights again, starting from the current ones."""
        weights, squares, products = self.weights, self.squares, self.products
        count = len(weights)
        for _ in range(_ROUNDS):
            for row in range(count):
                own = squares[row][row]
                if own <= 0.0:
                    weights[row] = 0.0
                    continue
                left = products[row]
                for other in range(count):
                    if other != row:
                        pair = squares[row][other] if other > row else squares[other][row]
                        left -= pair * weights[other]
                weights[row] = max(0.0, left / (own * (1.0 + _RIDGE)))
