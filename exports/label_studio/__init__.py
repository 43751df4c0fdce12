"""Label Studio: studies as its projects, what was labelled there as labels here, and projects of its own as studies."""
