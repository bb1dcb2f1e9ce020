"""Pure array code: query adaptive matching, expansion, focus."""
