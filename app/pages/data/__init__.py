"""The page Items and documents: the page itself and the reading of scans."""
