"""Agreement among raters: tables of ratings, coefficients with intervals, rater models, planning.

It exports nothing, so that a coefficient's name is checked before anything else is imported.
"""
