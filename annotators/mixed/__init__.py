"""Mixed models of labels: how systems differ, with questions, answers and raters as they happened to be drawn."""
