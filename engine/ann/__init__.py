"""Nearest neighbours by cosine: one protocol, an exact index and HNSW behind it."""
