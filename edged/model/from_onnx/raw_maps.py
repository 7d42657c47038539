"""Leave out the maps that YOLOv5's exports up to version 6.0 have beside the boxes that are computed from them."""

from onnx import ModelProto, ValueInfoProto

from edged.model.from_onnx.tensors import declared_dims

TABLE_AXES = 3  # batch, anchors, numbers
MAP_AXES = 5  # batch, anchors of a cell, rows, columns, numbers


def without_raw_maps(model: ModelProto) -> ModelProto:
    """Return a model whose only output is its table; as it is if it has no maps beside a single one."""
    tables = [entry for entry in model.graph.output if _axes(entry) == TABLE_AXES]
    maps = [entry for entry in model.graph.output if _axes(entry) == MAP_AXES]
    if len(tables) != 1 or not maps or len(maps) != len(model.graph.output) - 1:
        return model
    kept = ModelProto()
    kept.CopyFrom(model)
    del kept.graph.output[:]
    kept.graph.output.extend(tables)
    return kept


def _axes(entry: ValueInfoProto) -> int:
    return len(declared_dims(entry))
