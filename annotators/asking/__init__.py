"""What people are asked and what comes back: protocols as files and inferred ones, submissions, settling."""
