"""The window of Refocal. Qt only; everything else is asked of the engine through app.bridge."""
