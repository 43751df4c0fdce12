"""Parts that several pages share: the annotate component, tables, plots."""
