"""Reciprocal Rank Fusion (Cormack, Clarke and Büttcher, SIGIR 2009)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from service.domain.graph import NodeIdentity
from service.ports import PassageHit


@dataclass(frozen=True, slots=True)
class Ranking:
    """One live leg's answer, best first, each node once. `weight` scales the leg's vote."""

    leg: str
    weight: float
    hits: tuple[PassageHit, ...]


class Vote(NamedTuple):
    """What one leg says of one node: weight / (k + rank), ranks counted from 1."""

    leg: str
    rank: int
    share: float
    hit: PassageHit


class Fused(NamedTuple):
    """A node with its votes. `score` is rrf over the best possible rrf, in (0, 1]."""

    identity: NodeIdentity
    rrf: float
    score: float
    votes: tuple[Vote, ...]

    @property
    def best_vote(self) -> Vote:
        """The vote whose passage speaks for the node: best rank, the earlier leg on a tie."""
        return min(self.votes, key=lambda vote: vote.rank)


def fuse(rankings: Sequence[Ranking], *, k: int) -> list[Fused]:
    """Fuse ranked lists by rank alone: rrf(d) = Σ_r w_r / (k + rank_r(d)).

    rankings: one per live leg; a leg of weight 0 has no vote. Returns every node of any list, best first; ties go to
    the best single rank, then to the identity.
    """
    voting = [ranking for ranking in rankings if ranking.weight > 0]
    best_possible = sum(ranking.weight / (k + 1) for ranking in voting)
    votes: dict[NodeIdentity, list[Vote]] = {}
    for ranking in voting:
        for rank, hit in enumerate(ranking.hits, start=1):
            vote = Vote(ranking.leg, rank, ranking.weight / (k + rank), hit)
            votes.setdefault(hit.passage.identity, []).append(vote)
    fused = []
    for identity, cast in votes.items():
        rrf = sum(vote.share for vote in cast)
        fused.append(Fused(identity, rrf, rrf / best_possible, tuple(cast)))
    fused.sort(key=lambda node: (-node.rrf, min(vote.rank for vote in node.votes), node.identity))
    return fused
