"""Find what is wrong with a config and a board: the logic of `edged check` and `edged doctor`.

`check` examines a config. `collect` reads facts of this host, the `judge_` modules find what to fix in them, and
`report` formats the page and the bundle. All of them give `Finding`s.
"""
