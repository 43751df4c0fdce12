"""My work: how far I am, what I did, and what I resolve together with others."""
