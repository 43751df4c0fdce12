"""The prompts that come with Assay, a file each: those of the papers that judge, and those that write."""
