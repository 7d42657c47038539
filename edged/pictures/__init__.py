"""Pictures as files and as what a network takes: decode them, find them in folders, fit them to a size."""
