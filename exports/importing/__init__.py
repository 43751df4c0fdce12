"""The way in: items of any format, and labels made elsewhere."""
