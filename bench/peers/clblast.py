"""CLBlast: each convolution as im2col and one matrix product a frame, with the tuning parameters that it brings.

A sum of convolutions, no network: bias, sum, ReLU, pooling and the fully connected layer are left out.
"""

import ctypes
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bench.peers.cases import Case, Run
from edged.engine.device import find_device, open_device
from edged.engine.opencl import cl
from edged.model import reference
from edged.model.activations import LINEAR
from edged.model.graph import Conv, Graph
from edged.model.reference import Array

LIBRARY = "libclblast.so.1"
ROW_MAJOR, NOT_TRANSPOSED, CROSS_CORRELATION = 101, 111, 151
ALLOWED_ERROR = 1e-5  # of the range of a convolution's output

_INT, _SIZE, _FLOAT, _POINTER = ctypes.c_int, ctypes.c_size_t, ctypes.c_float, ctypes.c_void_p
_BUFFER, _QUEUE = (_POINTER, _SIZE), (ctypes.POINTER(_POINTER), _POINTER)
_MATRIX = (*_BUFFER, _SIZE)


@dataclass(frozen=True, eq=False)
class Product:
    """A convolution as out [channels, columns] = weight [channels, depth] · patches [depth, columns]."""

    conv: Conv
    image_shape: tuple[int, ...]
    columns: int
    weight: Any
    image: Any
    patches: Any
    out: Any


def prepare(case: Case, threads: int, device: str) -> Run:
    """What the run returns is not a number: there are no scores. Each convolution is compared with the reference.

    Raises OSError where the library is not installed, RuntimeError where a convolution is wrong.
    """
    library = _library()
    context = cl.Context([open_device(find_device(device))])
    queue = cl.CommandQueue(context)
    tensors = reference.run_all(case.network, case.x[:1])
    products = [_product(conv, case.network, tensors, context) for conv in _convolutions(case.network)]

    def run() -> Array:
        for product in products * case.batch:
            _start(library, product, queue)
        queue.finish()
        return np.full_like(case.truth, np.nan)

    run()
    for product in products:
        _compare(product, tensors[product.conv.inputs[0]], queue)
    return run


def _library() -> Any:
    library = ctypes.CDLL(LIBRARY)
    library.CLBlastSim2col.argtypes = [_INT, *[_SIZE] * 11, *_BUFFER * 2, *_QUEUE]
    library.CLBlastSgemm.argtypes = [*[_INT] * 3, *[_SIZE] * 3, _FLOAT, *_MATRIX * 2, _FLOAT, *_MATRIX, *_QUEUE]
    return library


def _convolutions(network: Graph) -> list[Conv]:
    convolutions = [operator for operator in network.operators if isinstance(operator, Conv)]
    if any(conv.groups > 1 or conv.pads[:2] != conv.pads[2:] for conv in convolutions):
        raise NotImplementedError("CLBlast's im2col knows no groups and no uneven pads")
    return convolutions


def _product(conv: Conv, network: Graph, tensors: dict[str, Array], context: Any) -> Product:
    """Its buffers. The patches of a plain 1×1 convolution are the image itself."""
    channels, rows, columns = network.shapes[conv.output]
    depth, pixels = conv.weight.size // channels, rows * columns

    def buffer(values: Array) -> Any:
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
        return cl.Buffer(context, flags, hostbuf=np.ascontiguousarray(values, np.float32))

    image = buffer(tensors[conv.inputs[0]])
    patches = image if _is_plain(conv) else buffer(np.zeros((depth, pixels)))
    out, shape = buffer(np.zeros((channels, pixels))), network.shapes[conv.inputs[0]]
    return Product(conv, shape, pixels, buffer(conv.weight), image, patches, out)


def _is_plain(conv: Conv) -> bool:
    return conv.weight.shape[2:] == (1, 1) and conv.strides == (1, 1) and not any(conv.pads)


def _start(library: Any, product: Product, queue: Any) -> None:
    conv, columns = product.conv, product.columns
    channels, _, *kernel = conv.weight.shape
    depth = conv.weight.size // channels
    in_queue = ctypes.byref(ctypes.c_void_p(queue.int_ptr)), None
    weight, image, patches, out = (
        (buffer.int_ptr, 0) for buffer in (product.weight, product.image, product.patches, product.out)
    )
    if not _is_plain(conv):
        window = (*product.image_shape, *kernel, *conv.pads[:2], *conv.strides, *conv.dilations)
        _check(library.CLBlastSim2col(CROSS_CORRELATION, *window, *image, *patches, *in_queue))
    how = ROW_MAJOR, NOT_TRANSPOSED, NOT_TRANSPOSED
    matrices = 1.0, *weight, depth, *patches, columns, 0.0, *out, columns
    _check(library.CLBlastSgemm(*how, channels, columns, depth, *matrices, *in_queue))


def _check(status: int) -> None:
    if status:
        raise RuntimeError(f"CLBlast ended with status {status}")


def _compare(product: Product, image: Array, queue: Any) -> None:
    bare = replace(product.conv, bias=np.zeros_like(product.conv.bias), activation=LINEAR)
    truth = reference.compute(bare, image)
    out = np.empty(truth.shape, np.float32)
    cl.enqueue_copy(queue, out, product.out)
    error = np.abs(out - truth).max() / np.ptp(truth)
    if not error < ALLOWED_ERROR:
        raise RuntimeError(f"convolution {bare.name} is wrong by {error:.0e} of its range")
