"""Reads pickles that other people made, without executing anything of them."""
