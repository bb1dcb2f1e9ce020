"""The job that answers a query."""
