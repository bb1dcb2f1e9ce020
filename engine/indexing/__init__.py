"""The job that turns folders into vectors."""
