"""What servers of others answer: a stranger's, whatever was agreed with who runs them."""
