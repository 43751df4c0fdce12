"""Items and documents: imported, published, read; `rows` is where an item and its columns meet."""
