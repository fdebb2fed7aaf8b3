"""The sentences that pages show, built from what is known of plans; nothing here computes."""
