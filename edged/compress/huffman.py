"""The size of a Huffman code: what the entropy coder of Deep Compression would reach, for comparison."""

import heapq
from collections.abc import Sequence


def huffman_bits(counts: Sequence[int]) -> int:
    """Return the bits that a Huffman code of symbols with these counts takes, without its table.

    Each merge of the two rarest groups adds one bit to every symbol in them. A single symbol takes no bits.
    """
    heap = [int(count) for count in counts if count]
    heapq.heapify(heap)
    bits = 0
    while len(heap) > 1:
        both = heapq.heappop(heap) + heapq.heappop(heap)
        bits += both
        heapq.heappush(heap, both)
    return bits
