"""The things that the album is about, each standing on z = 0 with its front towards -y."""
