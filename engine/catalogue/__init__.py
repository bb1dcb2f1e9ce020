"""Which photos there are: folders, files, content."""
