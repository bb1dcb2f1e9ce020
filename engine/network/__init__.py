"""Backbone + GeM + L2, with its preprocessing, and the device it runs on."""
