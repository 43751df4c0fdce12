"""The pages of the app, one file each: a page reads the request, calls one operation, draws the answer."""
