"""All wrong kernels: those whose faults stand in the tables, and those whose faults do not."""

from zoo_combined import COMBINED
from zoo_forward import FORWARD_KERNELS
from zoo_further import FURTHER
from zoo_gradients import GRADIENT_KERNELS
from zoo_transposed import TRANSPOSED_KERNELS
from zoo_unknown import UNKNOWN

WRONG = FORWARD_KERNELS + GRADIENT_KERNELS + TRANSPOSED_KERNELS + COMBINED + FURTHER

__all__ = ["UNKNOWN", "WRONG"]
