"""Make networks smaller: prune weights, share them through codebooks, code what is left.

The order is that of Han, Mao and Dally, "Deep Compression", 2016 (https://arxiv.org/abs/1510.00149).
"""
