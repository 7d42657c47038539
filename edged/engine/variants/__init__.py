"""All variants, by the operator that they compute."""

from collections.abc import Mapping

from edged.engine.variants.activate import ACTIVATE
from edged.engine.variants.add import ADD
from edged.engine.variants.average_pool import AVERAGE_POOL
from edged.engine.variants.combine import COMBINE
from edged.engine.variants.concat import CONCAT
from edged.engine.variants.conv_bfloat16 import CONV_BFLOAT16
from edged.engine.variants.conv_depthwise import CONV_DEPTHWISE
from edged.engine.variants.conv_general import CONV_GENERAL
from edged.engine.variants.conv_naive import CONV_NAIVE
from edged.engine.variants.conv_vector import CONV_VECTOR
from edged.engine.variants.conv_winograd import CONV_WINOGRAD
from edged.engine.variants.dense import DENSE
from edged.engine.variants.dense_split import DENSE_SPLIT
from edged.engine.variants.dequantize import DEQUANTIZE
from edged.engine.variants.flatten import FLATTEN
from edged.engine.variants.group_norm import GROUP_NORM
from edged.engine.variants.interpolate import INTERPOLATE
from edged.engine.variants.join import JOIN
from edged.engine.variants.layer_norm import LAYER_NORM
from edged.engine.variants.local_response_norm import LOCAL_RESPONSE_NORM
from edged.engine.variants.max_pool import MAX_POOL
from edged.engine.variants.product import PRODUCT
from edged.engine.variants.quantize import QUANTIZE
from edged.engine.variants.quantized_add import QUANTIZED_ADD
from edged.engine.variants.quantized_depthwise import QUANTIZED_DEPTHWISE
from edged.engine.variants.quantized_dot import QUANTIZED_DOT
from edged.engine.variants.quantized_naive import QUANTIZED_NAIVE
from edged.engine.variants.quantized_vector import QUANTIZED_VECTOR
from edged.engine.variants.rearrange import REARRANGE
from edged.engine.variants.reduce_channels import REDUCE_CHANNELS
from edged.engine.variants.select_channels import SELECT_CHANNELS
from edged.engine.variants.softmax import SOFTMAX
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
    Conv: (CONV_BFLOAT16, CONV_VECTOR, CONV_WINOGRAD, CONV_GENERAL, CONV_DEPTHWISE, CONV_NAIVE),
    Dense: (DENSE, DENSE_SPLIT),
    Dequantize: (DEQUANTIZE,),
    Flatten: (FLATTEN,),
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
    SelectChannels: (SELECT_CHANNELS,),
    Softmax: (SOFTMAX,),
}
