"""The training job: descriptors learned with average precision (Revaud et al. 2019)."""
