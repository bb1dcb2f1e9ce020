"""Tests of engine.indexing."""
