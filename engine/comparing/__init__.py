"""The papers' tables and sweeps: every method from one feature extraction."""
