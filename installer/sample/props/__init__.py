"""Everything else that stands about: what the things must be told from."""
