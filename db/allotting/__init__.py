"""Slots that belong to people: which are whose in a study whose items are allotted beforehand."""
