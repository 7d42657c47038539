"""Convert each operator of an ONNX file to one of `graph`. The entry point is `onnx_reader`."""
