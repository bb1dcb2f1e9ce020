"""From feature maps to features: regions, pooling, aggregation, whitening. No torch."""
