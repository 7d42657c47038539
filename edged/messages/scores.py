"""What the outputs of a network mean, and how that is known."""

from typing import Literal

ScoreKind = Literal["probabilities", "logits", "log_probabilities", "independent"]
ScoresWanted = Literal["auto", "probabilities", "logits", "log_probabilities", "independent"]
ScoresKnownBy = Literal["config", "file", "network", "answers"]
