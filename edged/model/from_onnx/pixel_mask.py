"""Compute the mask of a picture's pixels, which DETR of transformers reads as a second input.

It has ones where a picture of a padded batch is, and zeros beside it. edged pads no picture, so all are ones, and
what follows from them is constant.
"""

import numpy as np
from onnx import GraphProto, ModelProto, ValueInfoProto, helper, numpy_helper

from edged.model.from_onnx.tensors import declared_dims, inputs_of

MASK = "pixel_mask"  # its name in transformers, and so in the files of Optimum and transformers.js
MASK_AXES = 3  # batch, rows, columns
ROWS_AND_COLUMNS = (0, 2, 3)  # of a batch of pictures: its axes without the channels
PICTURES = 4  # axes of a batch of pictures


def with_whole_pictures(model: ModelProto) -> ModelProto:
    """Return a model that computes its mask of pixels itself; as it is if it reads none beside one picture."""
    match sorted(inputs_of(model.graph), key=lambda entry: entry.name == MASK):
        case [picture, mask] if mask.name == MASK and (len(declared_dims(picture)), len(declared_dims(mask))) == (
            PICTURES,
            MASK_AXES,
        ):
            whole = ModelProto()
            whole.CopyFrom(model)
            whole.graph.input.remove(mask)
            _compute(mask, picture.name, whole.graph)
            return whole
    return model


def _compute(mask: ValueInfoProto, picture: str, graph: GraphProto) -> None:
    """Add the ones of a mask: as a constant, or where the file leaves their number open, of the picture's size."""
    dtype = helper.tensor_dtype_to_np_dtype(mask.type.tensor_type.elem_type)
    _, rows, columns = declared_dims(mask)
    if rows and columns:
        graph.initializer.append(numpy_helper.from_array(np.ones((1, rows, columns), dtype), MASK))
        return
    axes, sizes, dims = (f"{MASK}/{name}" for name in ("axes", "sizes", "dims"))
    graph.initializer.append(numpy_helper.from_array(np.array(ROWS_AND_COLUMNS, np.int64), axes))
    one = helper.make_tensor("", mask.type.tensor_type.elem_type, [1], [1])
    nodes = [
        helper.make_node("Shape", [picture], [sizes]),
        helper.make_node("Gather", [sizes, axes], [dims]),
        helper.make_node("ConstantOfShape", [dims], [MASK], value=one),
    ]
    for node in reversed(nodes):
        graph.node.insert(0, node)
