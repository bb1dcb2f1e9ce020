"""Protocols and metrics; handed a rank(query) callable, it knows nothing of a library."""
