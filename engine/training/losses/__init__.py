"""Losses over a batch of descriptors: average precision, and what it is compared with."""
