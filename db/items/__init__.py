"""Items and documents: imported, published, read, withdrawn; `rows` is where an item and its columns meet."""
