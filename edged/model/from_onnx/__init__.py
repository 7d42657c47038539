"""How each operator of an ONNX file becomes one of `graph`'s. `onnx_reader` is the way in."""
