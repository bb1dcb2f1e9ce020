"""Training of networks with average precision as the loss (Revaud et al. 2019)."""
