"""What no scan should take for a photo: the leavings of systems, shares and other programs."""

# Lower case. Thumbnails, recycle bins, snapshots and indexes of systems and network storage.
_FOLDERS = frozenset(
    {
        "@eadir",
        "@recycle",
        "@recently-snapshot",
        "@sharebin",
        "@tmp",
        "#recycle",
        "#snapshot",
        "$recycle.bin",
        "recycler",
        "recycled",
        "system volume information",
        "lost+found",
        "found.000",
        "__macosx",
    }
)
# Packages of other programs that keep previews of photos as files.
_FOLDER_SUFFIXES = (".lrdata", ".lrcat-data", ".cocatalogdb")

NO_MEDIA = ".nomedia"
"""A folder that holds a file of this name wants nothing of it shown, nor of what lies below."""


def is_litter(name: str) -> bool:
    """Whether a file or folder of this name is passed over.

    Hidden ones are ("._IMG_1.JPG" of macOS is one), and the folders that systems fill.
    """
    name = name.lower()
    return name.startswith(".") or name in _FOLDERS or name.endswith(_FOLDER_SUFFIXES)
