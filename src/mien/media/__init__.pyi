from ._cameras import Camera, CameraFrame
from ._captions import caption_pictures
from ._decoding import DecodedImage, decode_image, decode_sized, read_file, read_image
from ._drawing import draw_boxes
from ._embedding import embed_names, find_exiftool
from ._frames import Frame, FrameSource, open_frames
from ._groups import (
    group_bursts,
    group_folders,
    group_table,
    group_tracks,
    number_groups,
    pairs_in_pictures,
)
from ._images import (
    check_picture,
    check_size,
    contact_sheet,
    encode_jpeg,
    encode_png,
    resize_images,
    write_image,
)
from ._limits import MAX_PIXELS, MAX_SIDE
from ._listing import (
    PICTURE_SUFFIXES,
    VIDEO_SUFFIXES,
    MediaFiles,
    find_media,
    find_pictures,
    gather_media,
    is_picture,
    is_video,
)
from ._names import NAME_SOURCES, read_names
from ._outputs import check_output
from ._regions import NamedRegion, PictureNames, turn_box, upright_size
from ._times import PictureTime, picture_time
from ._tracks import TrackJoiner, box_overlap, join_tracks
from ._xmp import SidecarChange, XmpNames, read_xmp, write_sidecar

__all__ = [
    "MAX_PIXELS",
    "MAX_SIDE",
    "NAME_SOURCES",
    "PICTURE_SUFFIXES",
    "VIDEO_SUFFIXES",
    "Camera",
    "CameraFrame",
    "DecodedImage",
    "Frame",
    "FrameSource",
    "MediaFiles",
    "NamedRegion",
    "PictureNames",
    "PictureTime",
    "SidecarChange",
    "TrackJoiner",
    "XmpNames",
    "box_overlap",
    "caption_pictures",
    "check_output",
    "check_picture",
    "check_size",
    "contact_sheet",
    "decode_image",
    "decode_sized",
    "draw_boxes",
    "embed_names",
    "encode_jpeg",
    "encode_png",
    "find_exiftool",
    "find_media",
    "find_pictures",
    "gather_media",
    "group_bursts",
    "group_folders",
    "group_table",
    "group_tracks",
    "is_picture",
    "is_video",
    "join_tracks",
    "number_groups",
    "open_frames",
    "pairs_in_pictures",
    "picture_time",
    "read_file",
    "read_image",
    "read_names",
    "read_xmp",
    "resize_images",
    "turn_box",
    "upright_size",
    "write_image",
    "write_sidecar",
]
