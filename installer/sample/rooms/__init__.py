"""The places of the album. In each the main surface is z = 0 and the camera's side is -y."""
