"""Find where to cut a network into parts for several workers, by measuring the parts and the links between."""
