"""Composes the labelled pictures that the shipped network is trained with."""
