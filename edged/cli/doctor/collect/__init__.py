"""Read the facts of this host; nothing here judges them. `root` is where its file system begins."""
