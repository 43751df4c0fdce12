"""What an item is: its fields, declared once, and what each may hold; its normal form; targets; seeded samples."""
