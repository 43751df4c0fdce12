"""What a study lets annotators see of their own figures."""

NONE, PROGRESS, QUALITY, GOLD = "none", "progress", "quality", "gold"

OWN_FIGURES = {
    NONE: "Nothing",
    PROGRESS: "How many items they did, and how long each took",
    QUALITY: "How often they agree with most of the rest, and with themselves, as well",
    GOLD: "How many of their gold labels were right, as well",
}
"""Each shows what those before it show."""
