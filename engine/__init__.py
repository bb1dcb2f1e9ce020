"""The engine of Refocal: finds the same thing again. Knows no window; usable from a script."""
