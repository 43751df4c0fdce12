"""Parts of the form that makes a study."""
