"""The words of documents, kept on disk, and reading them off the pictures of scans."""
