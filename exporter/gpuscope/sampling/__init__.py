"""Workers that sample, and the immutable snapshot that a scrape and the API read."""
