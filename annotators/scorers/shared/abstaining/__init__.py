"""Whether answers state something or decline: the classifier, its labelled examples, and the review of more of them."""
