"""What people do in a study: slots, drafts, what is shown, committing a step, how far they are."""
