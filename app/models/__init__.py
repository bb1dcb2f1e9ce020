"""Item models: hits, photos, jobs."""
