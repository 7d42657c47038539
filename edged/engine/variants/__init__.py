"""All variants, by the operator that they compute."""

from collections.abc import Mapping

from edged.engine.variants.channels import CONCAT, PERMUTE_CHANNELS, REDUCE_CHANNELS, SELECT_CHANNELS, SOFTMAX
from edged.engine.variants.conv_bfloat16 import CONV_BFLOAT16
from edged.engine.variants.conv_depthwise import CONV_DEPTHWISE
from edged.engine.variants.conv_frequencies import CONV_FREQUENCIES
from edged.engine.variants.conv_general import CONV_GENERAL
from edged.engine.variants.conv_naive import CONV_NAIVE
from edged.engine.variants.conv_vector import CONV_VECTOR
from edged.engine.variants.conv_winograd import CONV_WINOGRAD
from edged.engine.variants.dense import DENSE, DENSE_SPLIT, PRODUCT
from edged.engine.variants.elementwise import ACTIVATE, ADD, COMBINE
from edged.engine.variants.norms import GROUP_NORM, LAYER_NORM, LOCAL_RESPONSE_NORM
from edged.engine.variants.pool import AVERAGE_POOL, MAX_POOL
from edged.engine.variants.positions import FLATTEN, GRID_SAMPLE, INTERPOLATE, JOIN, REARRANGE
from edged.engine.variants.quantized_depthwise import QUANTIZED_DEPTHWISE
from edged.engine.variants.quantized_dot import QUANTIZED_DOT
from edged.engine.variants.quantized_naive import QUANTIZED_NAIVE
from edged.engine.variants.quantized_vector import QUANTIZED_VECTOR
from edged.engine.variants.steps import DEQUANTIZE, QUANTIZE, QUANTIZED_ADD
from edged.engine.variants.variant import AnyVariant
from edged.model.graph import (
    Activate,
    Add,
    AveragePool,
    Combine,
    Concat,
    Conv,
    Dense,
    Dequantize,
    Flatten,
    GridSample,
    GroupNorm,
    Interpolate,
    Join,
    LayerNorm,
    LocalResponseNorm,
    MaxPool,
    Operator,
    Product,
    Quantize,
    QuantizedAdd,
    QuantizedConv,
    Rearrange,
    ReduceChannels,
    SelectChannels,
    Softmax,
)

VARIANTS: Mapping[type[Operator], tuple[AnyVariant, ...]] = {
    Activate: (ACTIVATE,),
    Add: (ADD,),
    AveragePool: (AVERAGE_POOL,),
    Combine: (COMBINE,),
    Concat: (CONCAT,),
    Conv: (CONV_BFLOAT16, CONV_VECTOR, CONV_WINOGRAD, CONV_GENERAL, CONV_FREQUENCIES, CONV_DEPTHWISE, CONV_NAIVE),
    Dense: (DENSE, DENSE_SPLIT),
    Dequantize: (DEQUANTIZE,),
    Flatten: (FLATTEN,),
    GridSample: (GRID_SAMPLE,),
    GroupNorm: (GROUP_NORM,),
    Interpolate: (INTERPOLATE,),
    Join: (JOIN,),
    LayerNorm: (LAYER_NORM,),
    LocalResponseNorm: (LOCAL_RESPONSE_NORM,),
    MaxPool: (MAX_POOL,),
    Product: (PRODUCT,),
    Quantize: (QUANTIZE,),
    QuantizedAdd: (QUANTIZED_ADD,),
    QuantizedConv: (QUANTIZED_DEPTHWISE, QUANTIZED_DOT, QUANTIZED_VECTOR, QUANTIZED_NAIVE),
    Rearrange: (REARRANGE,),
    ReduceChannels: (REDUCE_CHANNELS,),
    SelectChannels: (PERMUTE_CHANNELS, SELECT_CHANNELS),
    Softmax: (SOFTMAX,),
}
