"""All variants, by the operator that they compute."""

from collections.abc import Mapping

from edged.engine.variants.add import ADD
from edged.engine.variants.average_pool import AVERAGE_POOL
from edged.engine.variants.conv_depthwise import CONV_DEPTHWISE
from edged.engine.variants.conv_general import CONV_GENERAL
from edged.engine.variants.conv_naive import CONV_NAIVE
from edged.engine.variants.conv_vector import CONV_VECTOR
from edged.engine.variants.conv_winograd import CONV_WINOGRAD
from edged.engine.variants.dense import DENSE
from edged.engine.variants.dense_split import DENSE_SPLIT
from edged.engine.variants.flatten import FLATTEN
from edged.engine.variants.max_pool import MAX_POOL
from edged.engine.variants.relu import RELU
from edged.engine.variants.softmax import SOFTMAX
from edged.engine.variants.variant import AnyVariant
from edged.model.graph import Add, AveragePool, Conv, Dense, Flatten, MaxPool, Operator, Relu, Softmax

VARIANTS: Mapping[type[Operator], tuple[AnyVariant, ...]] = {
    Add: (ADD,),
    AveragePool: (AVERAGE_POOL,),
    Conv: (CONV_VECTOR, CONV_WINOGRAD, CONV_GENERAL, CONV_DEPTHWISE, CONV_NAIVE),
    Dense: (DENSE, DENSE_SPLIT),
    Flatten: (FLATTEN,),
    MaxPool: (MAX_POOL,),
    Relu: (RELU,),
    Softmax: (SOFTMAX,),
}
