"""What people keep: the library as the pages have it, and its page."""
