"""How a study is designed: one object behind the form, the command and the file, and what nobody could carry out."""
