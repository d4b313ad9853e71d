"""Names without boxes: who is who when pictures only list who is on them, on LFW's vectors."""
