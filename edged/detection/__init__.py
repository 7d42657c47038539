"""From the outputs of a detector to boxes: recognise the layout, decode, suppress what overlaps."""
