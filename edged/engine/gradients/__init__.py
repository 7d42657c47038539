"""The backward pass of a training step: for each operator the kernels that compute its gradients."""

from collections.abc import Mapping

from edged.engine.gradients.conv_gradient import conv_gradient
from edged.engine.gradients.slope import Backward
from edged.engine.gradients.without_weights import average_pool_gradient, flatten_batch_gradient, max_pool_gradient
from edged.model.graph import AveragePool, Conv, Flatten, MaxPool, Operator

BACKWARD: Mapping[type[Operator], Backward] = {
    AveragePool: average_pool_gradient,
    Conv: conv_gradient,
    Flatten: flatten_batch_gradient,
    MaxPool: max_pool_gradient,
}
