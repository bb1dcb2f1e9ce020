"""Renders the sample album and the application icon: a small software renderer and its scenes."""
