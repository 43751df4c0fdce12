"""Units that nobody is asked: what the labels of a criterion amount to. One file a way of making them.

A criterion declares its derived units in `derived`. Agreement, settling, alignment and exports treat each as one more
criterion, after the one that it is made from; annotators never see it.
"""
