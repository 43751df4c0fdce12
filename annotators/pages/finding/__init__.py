"""Finding what people typed, the phrases of answers and whole passages among the words of pages."""
