"""The sample project of `assay demo` and the people who are simulated in it."""
