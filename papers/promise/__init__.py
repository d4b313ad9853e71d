"""Does a stated rate hold? Calibration for one's own people and camera, over many domains."""
