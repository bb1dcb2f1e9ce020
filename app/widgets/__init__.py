"""Reusable parts of the window."""
