"""Woods and wall paints that come back: each a lighter and a darker tone."""

OAK = ("#d3a570", "#94653a")
PINE = ("#e8c592", "#b98a55")
WALNUT = ("#9a6a42", "#5a3820")
SAGE = ("#cfdcc4", "#bccdb0")
BLUSH = ("#f6d6c4", "#eac3ad")
SAND = ("#f3e6c8", "#e6d4ae")
SKY = ("#c4d6de", "#b0c6d0")
