"""What waits for the researcher of a study: people and items that nobody else can move on, with what ends it."""
