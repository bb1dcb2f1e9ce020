"""The seam between window and engine, and the only importer of engine.service."""
