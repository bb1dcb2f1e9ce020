"""What a library keeps: the database, the vector files, and where they lie."""
