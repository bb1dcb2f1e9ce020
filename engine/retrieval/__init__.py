"""Shortlist -> QAM -> expansion -> focus, as one composable pipeline."""
