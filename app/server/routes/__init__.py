"""Our own routes, one file a resource."""
