"""How often a network is right on labelled pictures, and how far its scores can be trusted."""
