"""Items and documents: imported, published, read, withdrawn."""
