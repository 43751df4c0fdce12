"""What several scorers share: texts cut into words, images, retrieved pages, embeddings, verdicts, tasks."""
