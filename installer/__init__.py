"""Sets Refocal up and starts it, and runs its gate. Standard library only."""
