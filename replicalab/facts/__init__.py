"""What is known of plans, as blocks of words and numbers: the one address of each sentence."""
