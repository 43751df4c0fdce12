"""What a document is, and pictures of its pages: drawn by processes of their own, kept on disk."""
