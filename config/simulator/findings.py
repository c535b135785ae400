"""What a comparison has found."""

from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass(slots=True)
class Findings:
    """Sentences for people. Only `differences` mean that something is wrong."""

    compared: int = 0
    differences: list[str] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def lines(self) -> Iterator[str]:
        """All of it."""
        for name in ("difference", "waiting", "asked"):
            found = self.differences if name == "difference" else getattr(self, name)
            yield from (f"{name:<11}{sentence}" for sentence in found)
        yield (
            f"{self.compared} payments compared: {len(self.differences)} differences,"
            f" {len(self.waiting)} waiting, {len(self.asked)} asked of a person"
        )

    def missing(self, sentence: str, *, is_told: bool) -> None:
        """What is not there is on its way, or should be there."""
        (self.differences if is_told else self.waiting).append(sentence)
