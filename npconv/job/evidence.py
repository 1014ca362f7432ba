"""Why a result can be believed: one number three ways, and differences no larger than rounding makes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from npconv.job.comparison import Comparison, exactly, within_rounding
from npconv.job.identity import Identity, identity
from npconv.job.kinds import is_exact, widest
from npconv.job.layer import Layer
from npconv.job.rounding import Rounding


@dataclass(frozen=True)
class Evidence:
    """What speaks for the results of a layer."""

    layer: Layer
    results: Mapping[str, np.ndarray]

    @cached_property
    def rounding(self) -> Rounding:
        """What rounding may have done to them."""
        return Rounding(self.layer)

    def identity(self) -> Identity:
        """The trilinear form's value from each of its three derivatives."""
        return identity(self.layer, self.results, self.rounding)

    def compare(self, expected: Mapping[str, np.ndarray]) -> list[Comparison]:
        """Each expected result against the layer's own; floats against the layer in a wider kind."""
        results, rounding = self.results, self.rounding
        integers = [name for name, got in expected.items() if is_exact(got) and is_exact(results[name])]
        wide = self.layer.map(widest).results([name for name in expected if name not in integers])
        return [
            exactly(name, rounding.terms[name], got, results[name])
            if name in integers
            else within_rounding(name, got, results[name], wide[name], rounding)
            for name, got in expected.items()
        ]
