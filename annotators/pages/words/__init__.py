"""The words of pages with their places: read from the document or off its picture, kept on disk."""
