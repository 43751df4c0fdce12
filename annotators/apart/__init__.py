"""What strangers sent is opened in processes of their own, each under a limit of time and of memory."""
