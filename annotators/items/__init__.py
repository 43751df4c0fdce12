"""What an item is: its normal form, records for scorers, what labels are about, seeded samples."""
