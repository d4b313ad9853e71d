"""Every call of PyPI's compreface-sdk; run by the Python of its own environment.

``call_python_sdk.py PORT KEY FOLDER`` prints one JSON object: what each call answered.
"""

import json
import sys
from pathlib import Path

from compreface import CompreFace

port, key, folder = sys.argv[1:]
service = CompreFace("http://127.0.0.1", port, {"limit": 0, "det_prob_threshold": 0.5})
recognition = service.init_face_recognition(key)
verification = service.init_face_verification(key)
detection = service.init_face_detection(key)
faces = recognition.get_face_collection()
subjects = recognition.get_subjects()
ann, bob, group = (f"{folder}/{name}.png" for name in ("ann", "bob", "group"))
options = {
    "limit": 0, "det_prob_threshold": 0.5, "prediction_count": 1,
    "face_plugins": "calculator,age,gender,landmarks", "status": True,
}  # fmt: skip
pair_options = {name: value for name, value in options.items() if name != "prediction_count"}
said = {}
said["subjects.add"] = subjects.add("Ann")
said["subjects.add twice"] = subjects.add("Ann")
said["faces.add"] = faces.add(ann, "Ann", {"det_prob_threshold": 0.5})
said["faces.add bytes"] = faces.add(Path(bob).read_bytes(), "Bob", {"det_prob_threshold": 0.5})
said["faces.list"] = faces.list()
said["subjects.list"] = subjects.list()
said["recognize"] = recognition.recognize(group, options)
said["faces.verify"] = faces.verify(ann, said["faces.add"]["image_id"], pair_options)
said["detect"] = detection.detect(group, pair_options)
said["verify"] = verification.verify(ann, group, pair_options)
said["subjects.update"] = subjects.update("Bob", "Rob")
said["faces.delete"] = faces.delete(said["faces.add"]["image_id"])
said["faces.delete_all"] = faces.delete_all("Rob")
said["subjects.add again"] = subjects.add("Cy")
said["subjects.delete"] = subjects.delete("Cy")
said["subjects.delete_all"] = subjects.delete_all()
sys.stdout.write(json.dumps(said) + "\n")
