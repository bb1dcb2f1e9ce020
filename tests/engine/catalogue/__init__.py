"""Tests of engine.catalogue."""
