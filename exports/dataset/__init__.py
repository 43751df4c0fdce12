"""The report of a dataset: what a paper's section about it and its appendix need, of a project or one study of it."""
