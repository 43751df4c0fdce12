"""The kinds of criterion: what one decision of an annotator may be."""
