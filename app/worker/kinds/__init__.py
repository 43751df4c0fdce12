"""One file a kind of job: what it does, who may start it, and how it reads to people. `KINDS.get(name)` finds one."""
