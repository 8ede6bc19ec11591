"""Reciprocal Rank Fusion (Cormack, Clarke and Büttcher, SIGIR 2009)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from service.domain.graph import NodeIdentity
from service.ports import PassageHit


@dataclass(frozen=True, slots=True)
class Ranking:
    """One live leg's answer, best first, each node once. `weight` scales the leg's vote; `unseen` are nodes that it
    holds nothing of yet, so that its silence says nothing of them."""

    leg: str
    weight: float
    hits: tuple[PassageHit, ...]
    unseen: frozenset[NodeIdentity] = frozenset()


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

    rankings: one per live leg; a leg of weight 0 has no vote. A leg abstains on what it can't see: the votes of the
    others then count for its weight too, rrf(d) = Σ_r w_r/(k + rank_r(d)) · Σ w / Σ_seeing w, so that a node without a
    vector stands no lower than where the others alone would have it. Returns every node of any list, best first; ties
    go to the best single rank, then to the identity.
    """
    voting = [ranking for ranking in rankings if ranking.weight > 0]
    whole = sum(ranking.weight for ranking in voting)
    best_possible = whole / (k + 1)
    votes: dict[NodeIdentity, list[Vote]] = {}
    for ranking in voting:
        for rank, hit in enumerate(ranking.hits, start=1):
            vote = Vote(ranking.leg, rank, ranking.weight / (k + rank), hit)
            votes.setdefault(hit.passage.identity, []).append(vote)
    fused = []
    for identity, cast in votes.items():
        voted = {vote.leg for vote in cast}
        abstaining = sum(r.weight for r in voting if identity in r.unseen and r.leg not in voted)
        rrf = sum(vote.share for vote in cast) * whole / (whole - abstaining)
        fused.append(Fused(identity, rrf, rrf / best_possible, tuple(cast)))
    fused.sort(key=lambda node: (-node.rrf, min(vote.rank for vote in node.votes), node.identity))
    return fused
