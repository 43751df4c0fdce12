"""What people touch: the web app, its server, and the command line."""
