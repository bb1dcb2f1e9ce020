"""Training of networks on a person's own photos, with average precision as the loss."""
