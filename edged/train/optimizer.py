"""How weights follow their gradients: what a step does, as plain values. The rate of each step is the caller's."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Sgd:
    """Stochastic gradient descent: v = momentum · v + g, w = w − rate · v; g includes weight_decay · w.

    nesterov: w = w − rate · (g + momentum · v) with the new v (Sutskever et al., 2013, as PyTorch writes it).
    Biases and norms do not decay.
    """

    momentum: float = 0.0
    nesterov: bool = False
    weight_decay: float = 0.0


@dataclass(frozen=True)
class Adam:
    """Kingma and Ba, "Adam", 2015, algorithm 1; weights decay apart from the gradient (AdamW: Loshchilov and
    Hutter, 2019) if `decoupled`, else as a part of it. Biases and norms do not decay.
    """

    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8
    weight_decay: float = 0.0
    decoupled: bool = True


Optimizer = Sgd | Adam
