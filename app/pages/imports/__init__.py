"""The page Import: the page itself and the form for labels made elsewhere."""
