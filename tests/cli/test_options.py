"""Every option of every verb changes something, or is refused; a new option needs an entry here.

A verb is a thin skin over one function. The function is replaced by a recorder where it would take
an engine or minutes, so that an entry shows that the option reaches it with its value; the cheap
verbs run as they are. ``REFUSED`` lists the inputs for which an option has no effect.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import typer.main
from typer.testing import CliRunner

from mien.cli._app import app
from mien.errors import MienError
from mien.files import save
from mien.gallery import Gallery
from mien.media import write_image
from mien.service import KeyStore, open_state
from mien.verification import JointBayesian, Verifier

#: Verb -> arguments that it runs with. {name} are the files of the fixture.
BASE = {
    "verify": "{picture} {picture}",
    "enrol": "{album} --gallery {new}/g",
    "identify": "{picture} {clip} --gallery {gallery}",
    "find": "Ann --gallery {gallery}",
    "export xmp": "{picture} --gallery {gallery}",
    "watch": "{clip} --gallery {gallery}",
    "people list": "--gallery {gallery}",
    "gallery forget": "--gallery {gallery}",
    "gallery history": "--gallery {gallery}",
    "gallery undo": "--gallery {gallery}",
    "people faces": "Ann --gallery {gallery}",
    "people move-face": "{face} --to Bob --gallery {gallery}",
    "people remove-face": "{face} --gallery {gallery}",
    "gallery check": "--gallery {gallery}",
    "people rename": "Ann Anna --gallery {gallery}",
    "people merge": "Ann Bob --gallery {gallery}",
    "people delete": "Ann --gallery {gallery}",
    "people purge": "--gallery {gallery} --days 0",
    "people export": "Ann --gallery {gallery}",
    "gallery move": "{gallery} {new}/moved",
    "gallery change-key": "--gallery {sealed}",
    "gallery rotate": "--gallery {sealed}",
    "adapt": "{album}",
    "cluster": "{album}",
    "complete": "{picture}",
    "evaluate": "{scores}",
    "serve": "--gallery {gallery}",
    "keys create": "read --gallery {new}/g",
    "keys link": "--gallery {new}/g",
    "keys list": "--gallery {new}/g",
    "keys revoke": "{key_id} --gallery {new}/g --state {known}",
    "data list": "",
    "data make": "{new}/made --people 3 --strangers 1 --pictures 2 --unsorted 2",
    "data show": "{album}",
    "demo": "",
    "warm": "",
    "crops train verification": "{album} --out {new}/m",
    "crops train committee": "{album} --out {new}/m",
    "crops train completer": "{album} --out {new}/m",
    "crops train encoder": "{album} --out {new}/m",
    "crops verify": "{vectors_model} {a} {b}",
    "crops adapt": "{vectors_model} {table} --out {new}/m",
    "crops identify": "{committee} {picture}",
    "crops cluster": "{album} --groups folders",
    "crops complete": "{completer} {picture} --out {new}/o.png",
    "crops encode": "{encoder} {album} --out {new}/f.npz",
}
#: Option -> arguments instead of those in BASE, where the option is for another kind of input.
OTHER_BASE = {
    "evaluate --failures": "{holes}",
    "verify --pairs": "",
    "watch --days": "{clip} --gallery {gallery} --strangers {new}/s",
    "watch --webhook": "{clip} --gallery {gallery}",
    "watch --webhook-secret": "{clip} --gallery {gallery} --webhook http://h/a",
    "watch --mqtt-prefix": "{clip} --gallery {gallery} --mqtt mqtt://b",
    "serve --webhook-secret": "--gallery {gallery} --webhook http://h/a",
    "serve --mqtt-prefix": "--gallery {gallery} --mqtt mqtt://b",
    "data show --skip": "{torn}",
    "people list --passphrase": "--gallery {sealed}",
    "crops train completer --atoms": "{album} --out {new}/m --completer ksvd",
    "crops train completer --atoms-per-face": "{album} --out {new}/m --completer ksvd",
    "crops train completer --beta": "{album} --out {new}/m --completer dictionary",
    "crops train completer --rounds": "{album} --out {new}/m --completer ksvd",
    "crops train completer --checkpoint": "{album} --out {new}/m --completer ksvd",
    "crops train completer --components": "{album} --out {new}/m --completer pca",
    "crops train completer --expansion": "{album} --out {new}/m --completer fastfood",
    "crops train completer --sigma": "{album} --out {new}/m --completer fastfood",
    "crops train completer --alpha": "{album} --out {new}/m --completer ridge",
    "crops train completer --latent": "{album} --out {new}/m --completer mixture",
    "crops train completer --starts": "{album} --out {new}/m --completer mixture",
    "crops train completer --directions": "{album} --out {new}/m --completer mixture",
    "crops train completer --max-entry": "{album} --out {new}/m --completer ksvd",
    "crops train completer --functions": "{album} --out {new}/m --completer fastfood",
    "crops train completer --dekernelize": "{album} --out {new}/m --completer fastfood",
    "crops train committee --people-per-member": "{album} --out {new}/m --sampling people",
    "crops train committee --pictures-per-member": "{album} --out {new}/m --sampling images",
    "crops train completer --faces": "rendered --out {new}/m",
    "crops train completer --data-home": "lfw --out {new}/m",
    "people rename --passphrase": "Ann Anna --gallery {sealed}",
    "people merge --passphrase": "Ann Bob --gallery {sealed} --yes",
    "enrol --min-probability": "{album} --gallery {new}/g --names auto",
    "enrol --out": "{album} --gallery {new}/g --names auto",
    "enrol --adapt": "{album} --gallery {new}/g --names auto",
    "identify --names": "{picture} --gallery {gallery} --xmp sidecar",
    "identify --keywords": "{picture} --gallery {gallery} --xmp sidecar",
    "export xmp --fpir": "{picture} --gallery {gallery} --names all",
    "find --passphrase": "Ann --gallery {sealed}",
    "gallery history --passphrase": "--gallery {sealed}",
    "gallery undo --passphrase": "--gallery {sealed}",
    "people faces --passphrase": "Ann --gallery {sealed}",
    "people delete --passphrase": "Ann --gallery {sealed} --yes",
    "people purge --days": "--gallery {gallery}",
    "people purge --passphrase": "--gallery {sealed} --yes",
    "people export --passphrase": "Ann --gallery {sealed}",
    "gallery move --passphrase": "{sealed} {new}/moved",
    "keys revoke --gallery": "{key_id} --gallery {new}/g",
}
#: "verb --option" -> what is appended to the arguments of the verb.
ENTRIES: dict[str, str] = {
    "verify --pairs": "--pairs {pairs}",
    "verify --model": "--model {face_model}",
    "verify --gallery": "--gallery {gallery}",
    "verify --passphrase": "--gallery {sealed} --passphrase",
    "verify --engine": "--engine dlib",
    "verify --far": "--far 0.01",
    "verify --impostors": "--impostors strangers",
    "verify --prior": "--prior 0.1",
    "verify --out": "--out {new}/pair.png",
    "verify --json": "--json",
    "enrol --gallery": "--gallery {new}/other",
    "enrol --person": "--person Ann",
    "enrol --model": "--model {face_model}",
    "enrol --engine": "--engine dlib",
    "enrol --min-quality": "--min-quality 0.5",
    "enrol --jobs": "--jobs 3",
    "enrol --names": "--names takeout --names xmp",
    "enrol --min-probability": "--names auto --min-probability 0.8",
    "enrol --out": "--names auto --out {new}/page",
    "enrol --adapt": "--names auto --adapt",
    "enrol --passphrase": "--passphrase",
    "enrol --scheduler": "--scheduler local",
    "enrol --json": "--json",
    "identify --gallery": "--gallery {new}/other",
    "identify --fpir": "--fpir 0.2",
    "identify --impostors": "--impostors strangers",
    "identify --top": "--top 7",
    "identify --out": "--out {new}/named",
    "identify --every": "--every 9",
    "identify --xmp": "--xmp sidecar",
    "identify --names": "--xmp sidecar --names all",
    "identify --keywords": "--xmp sidecar --keywords",
    "identify --remember": "--remember",
    "identify --jobs": "--jobs 3",
    "identify --passphrase": "--passphrase",
    "identify --json": "--json",
    "find --gallery": "--gallery {new}/none",
    "find --without": "--without Bob",
    "find --from": "--from 2100",
    "find --to": "--to 1950",
    "find --any": "--any",
    "find --confirmed": "--confirmed",
    "find --photos": "--photos {album}",
    "find --links": "--links {new}/links",
    "find --page": "--page {new}/page",
    "find --passphrase": "--gallery {sealed} --passphrase",
    "find --json": "--json",
    "export xmp --gallery": "--gallery {new}/other",
    "export xmp --names": "--names all",
    "export xmp --keywords": "--keywords",
    "export xmp --embed": "--embed",
    "export xmp --fpir": "--names all --fpir 0.2",
    "export xmp --jobs": "--jobs 3",
    "export xmp --passphrase": "--passphrase",
    "export xmp --json": "--json",
    "gallery forget --gallery": "--gallery {new}/none",
    "gallery forget --json": "--json",
    "gallery history --gallery": "--gallery {new}/none",
    "gallery history --limit": "--limit 1",
    "gallery history --passphrase": "--gallery {sealed} --passphrase",
    "gallery history --json": "--json",
    "gallery undo --gallery": "--gallery {new}/none",
    "gallery undo --to": "--to 1",
    "gallery undo --passphrase": "--gallery {sealed} --passphrase",
    "gallery undo --json": "--json",
    "people faces --gallery": "--gallery {new}/none",
    "people faces --passphrase": "--gallery {sealed} --passphrase",
    "people faces --json": "--json",
    "people move-face --to": "--to Cleo",
    "people move-face --gallery": "--gallery {new}/none",
    "people move-face --passphrase": "--passphrase",
    "people move-face --json": "--json",
    "people remove-face --gallery": "--gallery {new}/none",
    "people remove-face --passphrase": "--passphrase",
    "people remove-face --json": "--json",
    "watch --gallery": "--gallery {new}/other",
    "watch --name": "--name door",
    "watch --rate": "--rate 2",
    "watch --fpir": "--fpir 0.2",
    "watch --faces": "--faces 20",
    "watch --away": "--away 9",
    "watch --strangers": "--strangers {new}/s",
    "watch --days": "--days 3",
    "watch --webhook": "--webhook http://h/a --webhook-secret {scores}",
    "watch --webhook-secret": "--webhook-secret {scores}",
    "watch --mqtt": "--mqtt mqtt://b",
    "watch --mqtt-prefix": "--mqtt-prefix frigate",
    "watch --impostors": "--impostors strangers",
    "watch --passphrase": "--passphrase",
    "watch --json": "--json",
    "gallery check --gallery": "--gallery {new}/none",
    "gallery check --fpir": "--fpir 0.2",
    "gallery check --impostors": "--impostors strangers",
    "gallery check --forget-unnamed": "--forget-unnamed",
    "gallery check --out": "--out {new}/page",
    "gallery check --passphrase": "--passphrase",
    "gallery check --json": "--json",
    "people list --gallery": "--gallery {new}/none",
    "people list --passphrase": "--gallery {sealed} --passphrase",
    "people list --json": "--json",
    "people rename --gallery": "--gallery {new}/none",
    "people rename --passphrase": "--gallery {sealed} --passphrase",
    "people rename --json": "--json",
    "people merge --gallery": "--gallery {new}/none",
    "people merge --yes": "--yes",
    "people merge --passphrase": "--gallery {sealed} --passphrase --yes",
    "people merge --json": "--json --yes",
    "people purge --gallery": "--gallery {new}/none",
    "people purge --days": "--days 0 --yes",
    "people purge --dry-run": "--dry-run",
    "people purge --yes": "--yes",
    "people purge --passphrase": "--gallery {sealed} --passphrase --yes",
    "people purge --json": "--json --yes",
    "people export --gallery": "--gallery {new}/none",
    "people export --out": "--out {new}/ann.json",
    "people export --passphrase": "--passphrase",
    "people export --json": "--json",
    "gallery move --passphrase": "--passphrase",
    "gallery move --seal": "--seal",
    "gallery move --json": "--json",
    "gallery change-key --gallery": "--gallery {gallery}",
    "gallery change-key --json": "--json",
    "gallery rotate --gallery": "--gallery {gallery}",
    "gallery rotate --json": "--json",
    "people delete --gallery": "--gallery {new}/none",
    "people delete --yes": "--yes",
    "people delete --passphrase": "--gallery {sealed} --passphrase --yes",
    "people delete --json": "--json --yes",
    "adapt --out": "--out {new}/m",
    "adapt --gallery": "--gallery {gallery}",
    "adapt --model": "--model {face_model}",
    "adapt --engine": "--engine dlib",
    "adapt --revert": "--revert",
    "adapt --jobs": "--jobs 3",
    "adapt --scheduler": "--scheduler local",
    "adapt --passphrase": "--passphrase --gallery {gallery}",
    "adapt --json": "--json",
    "cluster --out": "--out {new}/out",
    "cluster --resume": "--resume",
    "cluster --write": "--write table",
    "cluster --fpir": "--fpir 0.2",
    "cluster --min-faces": "--min-faces 5",
    "cluster --min-quality": "--min-quality 0.5",
    "cluster --bursts": "--bursts 0",
    "cluster --collages": "--collages",
    "cluster --every": "--every 3",
    "cluster --engine": "--engine dlib",
    "cluster --model": "--model {face_model}",
    "cluster --jobs": "--jobs 3",
    "cluster --gallery": "--gallery {gallery}",
    "cluster --passphrase": "--gallery {sealed} --passphrase",
    "cluster --keep": "--keep",
    "cluster --add": "--add",
    "cluster --neighbours": "--neighbours 12",
    "cluster --scheduler": "--scheduler local",
    "cluster --json": "--json",
    "complete --cover": "--cover upper",
    "complete --model": "--model {completer}",
    "complete --engine": "--engine dlib",
    "complete --out": "--out {new}/x.png",
    "complete --completed": "--completed {new}/y.png",
    "complete --same": "--same {picture}",
    "complete --json": "--json",
    "evaluate --out": "--out {new}/report",
    "evaluate --score": "--score other",
    "evaluate --all": "--all",
    "evaluate --same": "--same truth",
    "evaluate --distance": "--distance",
    "evaluate --llr": "--llr",
    "evaluate --far": "--far 0.3",
    "evaluate --failures": "--failures",
    "evaluate --json": "--json",
    "serve --gallery": "--gallery {new}/other",
    "serve --photos": "--photos {album}",
    "serve --browser": "--browser",
    "serve --log": "--no-log",
    "serve --state": "--state {new}/state",
    "serve --host": "--host 127.0.0.2",
    "serve --port": "--port 9000",
    "serve --workers": "--workers 1",
    "serve --engine": "--engine dlib",
    "serve --fpir": "--fpir 0.2",
    "serve --far": "--far 0.2",
    "serve --certificate": "--certificate c.pem --private-key k.pem",
    "serve --private-key": "--private-key k.pem",
    "serve --trusted-proxy": "--trusted-proxy 127.0.0.9",
    "serve --strangers-days": "--strangers-days 3",
    "serve --webhook": "--webhook http://h/a --webhook-secret {scores}",
    "serve --webhook-secret": "--webhook-secret {scores}",
    "serve --mqtt": "--mqtt mqtt://b",
    "serve --mqtt-prefix": "--mqtt-prefix frigate",
    "serve --passphrase": "--passphrase",
    "serve --json": "--json",
    "keys create --gallery": "--gallery {new}/other",
    "keys create --state": "--state {new}/state",
    "keys create --name": "--name family --json",
    "keys create --label": "--label camera --json",
    "keys create --days": "--days 3 --json",
    "keys create --json": "--json",
    "keys link --gallery": "--gallery {new}/other",
    "keys link --state": "--state {new}/state",
    "keys link --host": "--host 127.0.0.2",
    "keys link --port": "--port 9000",
    "keys link --json": "--json",
    "keys list --gallery": "--gallery {new}/other",
    "keys list --state": "--state {new}/state",
    "keys list --json": "--json",
    "keys revoke --gallery": "--gallery {new}/other",
    "keys revoke --state": "--state {new}/state",
    "keys revoke --json": "--json",
    "data list --data-home": "--data-home {new}",
    "data list --json": "--json",
    "data make --people": "--people 4",
    "data make --strangers": "--strangers 2",
    "data make --pictures": "--pictures 3",
    "data make --unsorted": "--unsorted 3",
    "data make --seed": "--seed 5",
    "data make --json": "--json",
    "data show --out": "--out {new}/sheet.png",
    "data show --size": "--size 12",
    "data show --colour": "--colour",
    "data show --people": "--people 1 --out {new}/sheet.png",
    "data show --columns": "--columns 1 --out {new}/sheet.png",
    "data show --skip": "--skip",
    "data show --data-home": "--data-home {new}",
    "data show --json": "--json",
    "demo --data": "--data {album}",
    "demo --out": "--out {new}/report",
    "demo --people": "--people 6",
    "demo --pictures": "--pictures 4",
    "demo --data-home": "--data orl --data-home {new}",
    "demo --seed": "--seed 3",
    "demo --json": "--json",
    "warm --json": "--json",
    "crops train verification --out": "--out {new}/n",
    "crops train verification --far": "--far 0.1",
    "crops train verification --components": "--components 3",
    "crops train verification --e-step": "--e-step approximate",
    "crops train verification --prior-people": "--prior-people 3",
    "crops train verification --rounds": "--rounds 3",
    "crops train verification --scheduler": "--scheduler local",
    "crops train verification --json": "--json",
    "crops train committee --out": "--out {new}/n",
    "crops train committee --members": "--members 3",
    "crops train committee --sampling": "--sampling both",
    "crops train committee --fusion": "--fusion vote",
    "crops train committee --fixed": "--fixed 3",
    "crops train committee --random": "--random 3",
    "crops train committee --people-per-member": "--people-per-member 2",
    "crops train committee --pictures-per-member": "--pictures-per-member 2",
    "crops train committee --discriminants": "--discriminants 1",
    "crops train committee --shrinkage": "--shrinkage 0.5",
    "crops train committee --mean-shrinkage": "--mean-shrinkage 0.5",
    "crops train committee --priors": "--priors empirical",
    "crops train committee --light": "--light length",
    "crops train committee --size": "--size 24",
    "crops train committee --seed": "--seed 3",
    "crops train committee --json": "--json",
    "crops train completer --out": "--out {new}/n",
    "crops train completer --completer": "--completer ridge",
    "crops train completer --cover": "--cover left",
    "crops train completer --size": "--size 16",
    "crops train completer --atoms": "--atoms 9",
    "crops train completer --atoms-per-face": "--atoms-per-face 3",
    "crops train completer --beta": "--beta 3",
    "crops train completer --rounds": "--rounds 2",
    "crops train completer --components": "--components 9",
    "crops train completer --expansion": "--expansion 2",
    "crops train completer --sigma": "--sigma 3",
    "crops train completer --alpha": "--alpha 3",
    "crops train completer --latent": "--latent 3",
    "crops train completer --starts": "--starts 3",
    "crops train completer --directions": "--directions 7",
    "crops train completer --mirror": "--no-mirror",
    "crops train completer --shift": "--shift 1",
    "crops train completer --foreign": "--foreign shipped",
    "crops train completer --max-entry": "--max-entry 0.3",
    "crops train completer --functions": "--functions sin",
    "crops train completer --dekernelize": "--dekernelize atoms",
    "crops train completer --faces": "--faces 80",
    "crops train completer --data-home": "--data-home {new}",
    "crops train completer --checkpoint": "--checkpoint {new}/c",
    "crops train completer --seed": "--seed 3",
    "crops train completer --json": "--json",
    "crops train encoder --out": "--out {new}/n",
    "crops train encoder --second": "--second colour",
    "crops train encoder --kind": "--kind fisher",
    "crops train encoder --components": "--components 3",
    "crops train encoder --latent": "--latent 2",
    "crops train encoder --noise": "--noise full",
    "crops train encoder --parts": "--parts latent",
    "crops train encoder --lengths": "--lengths each",
    "crops train encoder --scaling": "--scaling none",
    "crops train encoder --starts": "--starts 2",
    "crops train encoder --rounds": "--rounds 5",
    "crops train encoder --power": "--power 1",
    "crops train encoder --intra": "--intra",
    "crops train encoder --reduced": "--reduced 7",
    "crops train encoder --patch": "--patch 8",
    "crops train encoder --step": "--step 4",
    "crops train encoder --side": "--side 64",
    "crops train encoder --seed": "--seed 3",
    "crops train encoder --json": "--json",
    "crops verify --prior": "--prior 0.1",
    "crops verify --json": "--json",
    "crops adapt --out": "--out {new}/n",
    "crops adapt --far": "--far 0.1",
    "crops adapt --source-people": "--source-people 3",
    "crops adapt --strength": "--strength 2",
    "crops adapt --centring": "--centring target",
    "crops adapt --rounds": "--rounds 3",
    "crops adapt --e-step": "--e-step approximate",
    "crops adapt --scheduler": "--scheduler local",
    "crops adapt --json": "--json",
    "crops identify --threshold": "--threshold 0.1",
    "crops identify --json": "--json",
    "crops cluster --groups": "--groups {album}/none.csv",
    "crops cluster --out": "--out {new}/out",
    "crops cluster --write": "--write table",
    "crops cluster --people": "--people 2",
    "crops cluster --method": "--method null-space",
    "crops cluster --components": "--components 3",
    "crops cluster --regularization": "--regularization 0",
    "crops cluster --between-shrinkage": "--between-shrinkage 1",
    "crops cluster --sigma": "--sigma 3",
    "crops cluster --linkage": "--linkage complete",
    "crops cluster --seed": "--seed 3",
    "crops cluster --json": "--json",
    "crops complete --cover": "--cover left",
    "crops complete --out": "--out {new}/x.png",
    "crops complete --scale": "--scale 2",
    "crops complete --json": "--json",
    "crops encode --out": "--out {new}/f.csv",
    "crops encode --json": "--json",
}
#: Arguments for which an option would have no effect -> words of the refusal.
REFUSED = {
    "identify {picture} --gallery {gallery} --every 3": "--every is for videos",
    "identify {picture} --gallery {gallery} --names all": "--names is for --xmp",
    "gallery undo --gallery {gallery} --to 99": "no change 99",
    "people remove-face feedbeef --gallery {gallery}": "no face",
    "people faces Nobody --gallery {gallery}": "nobody in",
    "identify {picture} --gallery {gallery} --keywords": "--keywords is for --xmp",
    "identify {picture} --gallery {gallery} --xmp beside": "--xmp must be sidecar, embed or none",
    "export xmp {picture} --gallery {gallery} --fpir 0.1": "--fpir is for names that are found",
    "enrol {album} --gallery {new}/g --names auto --scheduler local": "--scheduler is not for",
    "enrol {album} --gallery {new}/g --adapt": "--adapt is for names of other programs",
    "enrol {album} --gallery {new}/g --out page": "--out is for names of other programs",
    "enrol {album} --gallery {new}/g --min-probability 0.8": "--min-probability is for names",
    "enrol {album} --gallery {new}/g --names auto --person Ann": "--person is for pictures of one",
    "adapt --revert": "--revert needs --gallery",
    "adapt --revert --gallery {gallery}": "never replaced",
    "adapt --revert --gallery {gallery} --engine dlib": "--engine has no effect",
    "adapt": "photographs are needed",
    "adapt {album} --passphrase": "--passphrase is for a sealed gallery",
    "cluster {album} --every 3": "--every is for a video",
    "cluster {album} --passphrase": "--passphrase is for a gallery",
    "cluster {album} --gallery {gallery} --model {face_model}": "has its own model",
    "cluster {clip} --bursts 3": "--bursts is for photographs",
    "cluster {clip} --collages": "--collages is for photographs",
    "cluster {clip} --keep": "--keep is for photographs",
    "cluster {clip} --add": "--add is for photographs",
    "cluster {clip} --resume": "--resume is for photographs",
    "cluster {clip} --write copy": "--write is for photographs",
    "evaluate {scores} --all --score other": "--score and --all exclude",
    "data show rendered --data-home {new}": "--data-home is for the real data sets",
    "data show rendered --skip": "--skip is for files",
    "data show {album} --people 3": "--people is for the contact sheet",
    "data show {album} --columns 3": "--columns is for the contact sheet",
    "demo --data {album} --people 9": "--people is for rendered people",
    "demo --data {album} --pictures 9": "--pictures is for rendered people",
    "demo --data-home {new}": "--data-home is for orl, yale and lfw",
    "crops train verification {table} --out {new}/m --components 3": "--components is for pictures",
    "crops train completer {album} --out {new}/m --faces 80": "--faces is for rendered",
    "crops train completer {album} --out {new}/m --data-home {new}": "--data-home is for lfw",
    "crops train completer {album} --out {new}/m --atoms 9": "--atoms has no effect",
    "crops train completer {album} --out {new}/m --rounds 9": "--rounds has no effect",
    "crops train completer {album} --out {new}/m --components 9": "--components has no effect",
    "crops train completer {album} --out {new}/m --completer pca --beta 2": "--beta has no effect",
    "crops train completer {album} --out {new}/m --checkpoint c": "--checkpoint has no effect",
    "crops train completer {album} --out {new}/m --completer pca --foreign shipped":
        "--foreign has no effect",
    "crops train encoder {album} --out {new}/m --kind fisher --latent 3": "--latent has no effect",
    "crops train encoder {album} --out {new}/m --kind fisher --parts latent": "--parts has no",
    "crops train encoder {album} --out {new}/m --kind fisher --lengths each": "--lengths has no",
    "crops train encoder {album} --out {new}/m --kind fisher --scaling none": "--scaling has no",
    "crops train encoder {album} --out {new}/m --kind fisher --starts 2": "--starts has no effect",
    "crops train encoder {album} --out {new}/m --parts latent --lengths each": "--lengths has no",
    "crops train completer {album} --out {new}/m --directions 9": "--directions has no effect",
    "crops cluster {album} --groups folders --method null-space --seed 1": "--seed has no effect",
    "crops cluster {album} --groups folders --method null-space --sigma 1": "--sigma has no effect",
    "crops cluster {album} --groups folders --method relevant-components --regularization 1": (
        "--regularization has no effect"
    ),
    "crops cluster {album} --groups folders --regularization 0 --between-shrinkage 1": (
        "--between-shrinkage has no effect"
    ),
    "people list --gallery {gallery} --passphrase": "not sealed",
    "verify {picture} {picture} --pairs {pairs}": "--pairs lists the photographs",
    "verify {picture} {picture} {picture} --out {new}/o.png": "--out is for two photographs",
    "verify {picture}": "two photographs are needed",
    "verify {picture} {picture} --model {committee}": "use `mien crops identify`",
    "verify {picture} {picture} --model {vectors_model}": "use `mien crops verify`",
    "adapt {album} --model {vectors_model}": "use `mien crops adapt`",
    "enrol {album} --gallery {new}/g --model {vectors_model}": "use `mien crops verify`",
    "cluster {album} --model {completer}": "use `mien complete`",
    "complete {picture} --model {face_model}": "use `mien verify`",
    "crops verify {face_model} {a} {b}": "use `mien verify`",
    "crops adapt {face_model} {table} --out {new}/m": "use `mien adapt`",
    "crops identify {face_model} {picture}": "use `mien verify`",
    "crops complete {committee} {picture}": "use `mien crops identify`",
    "crops encode {completer} {album} --out {new}/f.npz": "use `mien complete`",
}  # fmt: skip


def _verbs(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    if not hasattr(command, "list_commands"):
        yield " ".join(path), command
        return
    for name in command.list_commands(None):
        yield from _verbs(command.get_command(None, name), (*path, name))


VERBS = dict(_verbs(typer.main.get_command(app)))
OPTIONS = [
    f"{verb} {parameter.opts[0]}"
    for verb, command in VERBS.items()
    for parameter in command.params
    if parameter.param_type_name == "option" and "--help" not in parameter.opts
]


def test_every_option_has_an_entry_and_every_entry_an_option() -> None:
    assert set(BASE) == set(VERBS)
    assert sorted(ENTRIES) == sorted(OPTIONS)


@pytest.mark.parametrize("verb", VERBS)
def test_help_speaks_of_names_and_numbers(verb: str) -> None:
    done = CliRunner().invoke(app, [*verb.split(), "--help"], env={"COLUMNS": "200"})
    assert done.exit_code == 0
    for word in ("<bool>", "<str>", "<int", "<float", "list[", "..}"):
        assert word not in done.output


class _Recorder:
    """Functions in place of those that need an engine or minutes: they note their arguments."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def replace(self, name: str, result: Any) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            # An address in memory is another one every time, and would pass for an effect.
            noted = f"{name} {args!r} {sorted(kwargs.items())!r}"
            self.calls.append(re.sub(r" at 0x[0-9a-f]+", "", noted))
            return result(*args, **kwargs) if callable(result) else result

        return call


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pictures, tables, galleries and model files; none of them is changed by a test."""
    from mien.committee import RandomSamplingLDA
    from mien.features import PairedDescriptors
    from mien.multiview import BagEncoder, FisherVector

    root = tmp_path_factory.mktemp("options")
    rng = np.random.default_rng(0)
    for person in ("Ann", "Bob", "Cleo"):
        (root / "album" / person).mkdir(parents=True)
        for k in range(3):
            pixels = rng.integers(0, 256, (24, 24, 3), np.uint8)
            write_image(root / "album" / person / f"{k}.png", pixels)
    (root / "clip.mp4").write_bytes(b"no video, and never opened")
    y = np.repeat(np.arange(60), 4)
    X = 3 * rng.standard_normal((60, 8))[y] + rng.standard_normal((240, 8))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    np.savez(root / "table.npz", X=X[160:], y=y[160:])
    np.save(root / "a.npy", X[0])
    np.save(root / "b.npy", X[1])
    joint = JointBayesian(features="drawn").fit(X[:120], y[:120])
    save(joint, root / "vectors_model")
    verifier = Verifier(joint, sizes=(1,), random_state=0).fit(X[120:], y[120:])
    for name, key in (("gallery", None), ("sealed", "open sesame, four words")):
        with Gallery.create(root / name, verifier, key=key) as gallery:
            for k, person in enumerate(("Ann", "Bob")):
                digest = hashlib.sha256(person.encode()).hexdigest()
                gallery.enrol(person, X[4 * k : 4 * k + 1], digests=[digest])
            if key is None:
                (root / "face").write_text(gallery.faces("Ann")[0].id)
    committee = RandomSamplingLDA(2, random_state=0).fit(X, y)
    save(committee, root / "committee")
    save(BagEncoder(PairedDescriptors(), FisherVector(2)), root / "encoder")
    _save_completer(root / "completer")
    scores = [
        f"{rng.normal() + k % 2:.4f},{k % 2},{k % 3 % 2},{rng.normal():.4f}" for k in range(90)
    ]
    (root / "scores.csv").write_text("\n".join(["score,same,truth,other", *scores]) + "\n")
    (root / "holes.csv").write_text("\n".join(["score,same,truth,other", ",1,1,0", *scores]) + "\n")
    (root / "pairs.csv").write_text("a,b\nalbum/Ann/0.png,album/Bob/0.png\n")
    (root / "torn" / "Ann").mkdir(parents=True)
    write_image(root / "torn" / "Ann" / "good.png", np.zeros((24, 24), np.uint8))
    (root / "torn" / "Ann" / "torn.png").write_bytes(b"no picture")
    if importlib.util.find_spec("fastapi") is not None:
        state = open_state(root / "known")
        _, record = KeyStore(state).create("read")
        state.close()
        (root / "key_id").write_text(record.id)
    return root


def _save_completer(path: Path) -> None:
    from mien.completion import FaceCompleter, PCACompleter
    from mien.datasets import make_faces

    faces = make_faces(12, 4, size=16, random_state=0).images
    save(FaceCompleter(PCACompleter(4), cover="lower").fit(faces), path)


@pytest.fixture
def run(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run arguments in a new folder; gives everything that can be seen of it."""
    from importlib import resources
    from shutil import copyfile, copytree

    import mien.crops
    import mien.demo
    import mien.recognition
    import mien.service
    from mien.recognition import FoundPicture

    recorder = _Recorder()
    sink = {"begin": lambda camera: None, "send": lambda event: None}
    failure = SimpleNamespace(path=Path("bad.jpg"), reason="no face", detail="no face")

    def answer(kind: str, **values: Any) -> Any:
        return SimpleNamespace(to_dict=lambda: {"kind": kind}, failures=[], **values)

    verified = {"same": True, "calibrated": True, "log_ratio": 1.0, "probability": 0.5, "prior": 1}
    report = SimpleNamespace(
        write=lambda out: Path(out), to_dict=lambda: {}, print=lambda console: None
    )
    seen = SimpleNamespace(
        path=place / "album" / "Ann" / "0.png", error=None, faces=[], note="",
        to_dict=lambda: {"faces": []}, draw=lambda: np.zeros((4, 4, 3), np.uint8),
    )  # fmt: skip
    stubs: dict[str, dict[str, Any]] = {
        "recognition": {
            "verify": SimpleNamespace(
                to_dict=lambda: verified, paths=(), n_faces=(),
                draw=lambda: np.zeros((4, 4, 3), np.uint8),
            ),
            "verify_pairs": [],
            "enrol": answer("enrolment", already=0, pictures=1, added=1, people={}, gallery="g",
                            first_change=None),
            "enrol_names": answer("names", sources={}, faces=[], people={}, pictures=1, added=1,
                                  already=0, unplaced=[], unmatched=[], gallery="g",
                                  adaptation=None),
            "report_names": report,
            "iter_identified": [seen],
            "watch": [SimpleNamespace(
                kind="left", time=1.0, to_dict=lambda: {"event": "left"},
                visit=SimpleNamespace(person="Ann", stranger=None, began=0.0, last=1.0),
            )],
            "write_names": None,
            "remember": 1,
            "forget_pictures": True,
            "find": [FoundPicture(place / "album" / "Ann" / "0.png", {"Ann": 1.0})],
            "report_found": report,
            "export_xmp": answer("xmp", pictures=1, changed=[], added=1, already=0, kept=0,
                                 unconfirmed=0),
            "adapt": answer(
                "adaptation", pictures=1, people=1, moved=True, source_weight=0.5, gain=None,
                warnings=[], rows=list, better=True,
            ),
            "check_gallery": answer(
                "check", report=lambda: report, faults=[], people=1, pictures=1, comparisons=0,
                impostors="", rates=[], advice=list, unnamed=0,
            ),
            "cluster_files": answer("people", n_people=1, sizes=[1], in_words=lambda: "one face",
                                    observed=None),
            "complete_files": {"written": [], "pictures": []},
            "count_reasons": {failure.reason: 1},
        },
        "service": {
            "serve": lambda settings, page, tell, log_requests: tell(),
            "make_link": "http://127.0.0.1:1/#link=x",
            "Webhook": SimpleNamespace(**sink, close=lambda: 0),
            "MqttPublisher": SimpleNamespace(**sink, close=lambda: None),
        },
        "demo": {"run_demo": SimpleNamespace(report=report, summary=report, skipped=[]),
                 "make_demo_album": (Path("people.gallery"), Path("photos"))},
        "crops": {
            "train_verifier": lambda *a, **k: ("m", {"skipped": [], "pictures": 1, "people": 1,
                                                     "rank": 1, "calibrated": False}),
            "train_committee": lambda *a, **k: ("m", {
                "skipped": [], "pictures": 1, "people": 1, "members": 1,
                "eigenfaces of a member": 1, "held out": 0, "light": []}),
            "train_completer": lambda *a, **k: (SimpleNamespace(
                cover_=np.ones(1, bool), mean_error_=np.ones(1), error_=np.ones(1),
                set_params=lambda **_: None,
                completer=SimpleNamespace(set_params=lambda **_: None),
                completer_=SimpleNamespace(set_params=lambda **_: None)), 1),
            "train_encoder": lambda *a, **k: ("m", {
                "skipped": [], "pictures": 1, "dimensions": 1}),
            "adapt": lambda *a, **k: ("m", {"skipped": [], "pictures": 1, "people": 1, "rank": 1,
                                            "calibrated": False}),
            "identify": [
                {"picture": "p", "person": "x", "posterior": 1.0, "likeliest": [["x", 1]]}
            ],
            "cluster": answer("clusters", sizes=[1], files=["f"], n_clusters=1, skipped=[],
                              groups=np.zeros(1), cannot_link=[]),
            "write_clusters": lambda result, out, **k: Path(out),
            "encode": {"features": np.zeros((1, 2)), "skipped": []},
            "write_features": None,
        },
    }  # fmt: skip
    for room, functions in stubs.items():
        module = sys.modules[f"mien.{room}"]
        for name, result in functions.items():
            monkeypatch.setattr(module, name, recorder.replace(name, result), raising=False)
    import mien.files

    real = mien.files.save
    saver = recorder.replace("save", lambda model, out: Path(out))
    monkeypatch.setattr(
        mien.files, "save", lambda m, o: saver(m, o) if not hasattr(m, "fit") else real(m, o)
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MIEN_DATA", raising=False)
    source = resources.files("mien.recognition") / "models" / "sface.mien"
    names = {
        "album": place / "album", "picture": place / "album" / "Ann" / "0.png",
        "clip": place / "clip.mp4", "scores": place / "scores.csv",
        "holes": place / "holes.csv", "pairs": place / "pairs.csv", "torn": place / "torn",
        "table": place / "table.npz",
        "a": place / "a.npy", "b": place / "b.npy",
        "vectors_model": place / "vectors_model", "committee": place / "committee",
        "completer": place / "completer", "encoder": place / "encoder",
        "face_model": source, "face": (place / "face").read_text(),
    }  # fmt: skip

    def _copy_keys(place: Path, new: Path) -> tuple[Path, Any]:
        if (place / "known").exists():
            copytree(place / "known", new / "known")
            return new / "known", (place / "key_id").read_text()
        return new / "known", "none"

    def invoke(words: str) -> dict[str, Any]:
        count = len(list(tmp_path.iterdir()))
        new = tmp_path / f"run{count}"
        new.mkdir()
        for name in ("gallery", "sealed"):
            copyfile(place / name, new / name)
            (new / name).chmod(0o600)
            names[name] = new / name
        names["known"], names["key_id"] = _copy_keys(place, new)
        recorder.calls.clear()
        # Divided first: a temporary folder may have spaces in its name.
        arguments = [word.format(**names, new=new) for word in words.split()]
        result = CliRunner().invoke(app, arguments, input="open sesame, four words\n" * 3)
        text = (result.output + "".join(recorder.calls)).replace(str(new), "NEW")
        written = sorted(
            (str(path.relative_to(new)), hashlib.sha256(path.read_bytes()).hexdigest())
            for path in new.rglob("*")
            if path.is_file() and path.name not in names
        )
        return {
            "text": text,
            "stdout": result.stdout,
            "error": repr(result.exception).replace(str(new), "NEW"),
            "written": written,
            "exception": result.exception,
        }

    return invoke


@pytest.mark.parametrize("option", sorted(ENTRIES))
def test_an_option_changes_something_or_is_refused(option: str, run: Any) -> None:
    verb = option.rpartition(" ")[0]
    base = f"{verb} {OTHER_BASE.get(option, BASE[verb])}"
    without, given = run(base), run(f"{base} {ENTRIES[option]}")
    exception = given["exception"]
    assert exception is None or isinstance(exception, (MienError, SystemExit)), given
    assert not isinstance(without["exception"], TypeError), without
    seen = [{key: one[key] for key in ("text", "error", "written")} for one in (without, given)]
    assert seen[0] != seen[1], f"{option} is ignored"


@pytest.mark.parametrize("words", sorted(REFUSED))
def test_an_option_without_effect_is_refused(words: str, run: Any) -> None:
    result = run(words)
    assert isinstance(result["exception"], MienError), result
    assert REFUSED[words] in str(result["exception"])


def test_an_ignored_option_would_be_seen(run: Any) -> None:
    """The comparison itself can fail: an option given with its default changes nothing."""
    base = f"verify {BASE['verify']}"
    assert run(base)["text"] == run(f"{base} --prior 0.5")["text"]


@pytest.mark.parametrize("verb", sorted(VERBS))
def test_json_is_one_document_and_nothing_else(verb: str, run: Any) -> None:
    parameters = {parameter.opts[0] for parameter in VERBS[verb].params}
    assert "--json" in parameters
    assert not parameters & {"--home", "--data-folder", "--quiet"}
    extra = "--yes" if verb in ("people delete", "people merge", "people purge") else ""
    result = run(f"{verb} {BASE[verb]} {extra} --json")
    assert result["exception"] is None, result
    json.loads(result["stdout"])
