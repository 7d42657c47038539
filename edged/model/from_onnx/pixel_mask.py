"""Compute the mask of a picture's pixels, which DETR of transformers reads as a second input.

It has ones where a picture of a padded batch is, and zeros beside it. edged pads no picture, so all are ones, and
what follows from them is constant.
"""

import numpy as np
from onnx import GraphProto, ModelProto, TensorProto, ValueInfoProto, helper, numpy_helper

from edged.model.from_onnx.tensors import PICTURES, declared_dims, inputs_of

MASK = "pixel_mask"  # its name in transformers, and so in the files of Optimum and transformers.js
MASK_AXES = 3  # batch, rows, columns
ROWS_AND_COLUMNS = (0, 2, 3)  # of a batch of pictures: its axes without the channels
TYPES = (TensorProto.BOOL, TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.INT32, TensorProto.INT64)


def with_whole_pictures(model: ModelProto) -> ModelProto:
    """Return a model that computes its mask of pixels itself; as it is if it reads none beside one picture."""
    match sorted(inputs_of(model.graph), key=_is_mask):
        case [picture, mask] if _is_mask(mask) and len(declared_dims(picture)) == PICTURES:
            whole = ModelProto()
            whole.CopyFrom(model)
            whole.graph.input.remove(mask)
            _compute(mask, picture.name, whole.graph)
            return whole
    return model


def _is_mask(entry: ValueInfoProto) -> bool:
    is_named_so = entry.name == MASK and len(declared_dims(entry)) == MASK_AXES
    return is_named_so and entry.type.tensor_type.elem_type in TYPES


def _compute(mask: ValueInfoProto, picture: str, graph: GraphProto) -> None:
    """Add the nodes that write the ones of a mask, as many as the file says, or else as the picture has pixels."""
    axes, sizes, dims = (f"{MASK}/{name}" for name in ("axes", "sizes", "dims"))
    one = helper.make_tensor("", mask.type.tensor_type.elem_type, [1], [1])
    nodes = [helper.make_node("ConstantOfShape", [dims], [MASK], value=one)]
    _, rows, columns = declared_dims(mask)
    if rows and columns:
        graph.initializer.append(numpy_helper.from_array(np.array([1, rows, columns], np.int64), dims))
    else:
        graph.initializer.append(numpy_helper.from_array(np.array(ROWS_AND_COLUMNS, np.int64), axes))
        nodes = [
            helper.make_node("Shape", [picture], [sizes]),
            helper.make_node("Gather", [sizes, axes], [dims]),
            *nodes,
        ]
    for node in reversed(nodes):
        graph.node.insert(0, node)
