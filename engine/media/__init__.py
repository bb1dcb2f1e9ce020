"""One file -> pixels and facts."""
