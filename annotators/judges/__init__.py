"""One file a judge: what a language model is asked."""
