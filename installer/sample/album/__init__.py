"""The album: which photographs there are."""
