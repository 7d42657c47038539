"""How many files and connections this process may hold open."""

import resource

WANTED = 8192  # a connection takes two, and some 3,000 may be; a login shell gives 1,024 in all


def allow_many_descriptors() -> None:
    """Raise the soft limit as far as the hard one lets us; children inherit it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = WANTED if hard == resource.RLIM_INFINITY else min(WANTED, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
