"""
Verifying speakers
==================

Nothing in the learners knows about faces. Here the identities are speakers, and a vector
describes an utterance by the mean and the spread of its cepstrum. The speakers are synthetic:
each has a vocal tract of its own length and a timbre; each utterance has other vowels and another
microphone.
"""

# %%
# Synthetic utterances. Resonances of the vocal tract (formants) shape 24 bands of a mel scale.
import matplotlib.pyplot as plt
import numpy as np
from scipy.fft import dct

from mien.datasets import make_pairs
from mien.evaluation import equal_error_rate, roc
from mien.subspace import RelevantComponents
from mien.verification import JointBayesian

rng = np.random.default_rng(0)
vowels = np.array(
    [[300, 2300, 3000], [450, 1900, 2550], [700, 1200, 2500], [500, 900, 2400], [330, 800, 2300]]
)  # first three formants, Hz
mel = np.linspace(150, 2600, 24)
bands = 700 * (10 ** (mel / 2595) - 1)  # centres of the bands, Hz


def speak(length: float, timbre: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """One utterance: the vector that describes it, and its mean spectrum in decibels."""
    said = vowels[rng.integers(5, size=14)] / length * rng.normal(1, 0.04, (14, 3))
    width = np.array([80, 110, 160]) * 1.5
    peaks = 1 / (1 + ((bands - said[..., None]) / width[:, None]) ** 2)
    spectrum = 10 * np.log10(peaks.sum(axis=1) + 1e-3) + timbre
    spectrum += np.linspace(0, rng.normal(0, 4), 24) + rng.normal(0, 1, spectrum.shape)
    cepstrum = dct(spectrum, norm="ortho")[:, 1:14]
    return np.r_[cepstrum.mean(axis=0), cepstrum.std(axis=0)], spectrum.mean(axis=0)


n_speakers, n_each = 240, 8
voices = [(rng.normal(1, 0.07), rng.normal(0, 1.2, 24).cumsum() / 2) for _ in range(n_speakers)]
utterances = [speak(*voice) for voice in voices for _ in range(n_each)]
X = np.array([vector for vector, _ in utterances])
spectra = np.array([spectrum for _, spectrum in utterances])
speaker = np.repeat(np.arange(n_speakers), n_each)

# %%
# The first 140 speakers train the models, the other hundred are for the test.
train = speaker < 140
pairs, same = make_pairs(speaker[~train], n_genuine=2000, n_impostor=20_000, random_state=0)
A, B = X[~train][pairs[:, 0]], X[~train][pairs[:, 1]]


def cosine(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return (a * b).sum(axis=1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)


centre = X[train].mean(axis=0)
whiten = RelevantComponents().fit(X[train], speaker[train])
model = JointBayesian().fit(X[train], speaker[train])
scores = {
    "cosine": cosine(A - centre, B - centre),
    "relevant components": cosine(whiten.transform(A), whiten.transform(B)),
    "Joint Bayesian": model.score_pairs(A, B),
}

# %%
# Left: three utterances of each of two speakers; the microphone changes the slope. Right: the
# models on speakers that they have not heard.
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8))
for k, who in enumerate((3, 5)):
    rows = spectra[speaker == who][:3]
    left.plot(bands, rows.T, color=f"C{k}", lw=1)
    left.plot([], [], color=f"C{k}", label=f"speaker {who}")
left.set(xlabel="frequency, Hz", ylabel="mean spectrum, dB")
left.legend(fontsize=8)
for name, values in scores.items():
    curve = roc(values[same], values[~same])
    error = equal_error_rate(values[same], values[~same])
    right.plot(100 * curve.far, 100 * curve.vr, label=f"{name} (EER {100 * error:.1f} %)")
right.set(xscale="log", xlim=(0.01, 100), ylim=(0, 102))
right.set(xlabel="false accepts, %", ylabel="true accepts, %")
right.set_xticks([0.01, 0.1, 1, 10, 100], ["0.01", "0.1", "1", "10", "100"])
right.legend(loc="lower right", fontsize=8)
fig.tight_layout()
