"""One of each thing that a package of one's own can add to Assay. Its modules register what they define."""
