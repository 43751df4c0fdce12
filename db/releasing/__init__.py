"""How items end: where each stands after its labels, what somebody decided, its story, and releases."""
