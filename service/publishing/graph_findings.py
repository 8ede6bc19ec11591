"""What only the linked graph can tell a writer: prerequisites in a circle, redirections that lead from estate to estate
and back, and links to what another estate retired."""

from collections import defaultdict, deque
from collections.abc import Collection, Iterator, Mapping

from service.domain.diagnostics import Diagnostic, Severity
from service.domain.graph import Edge, EdgeType, Node, NodeIdentity, NodeKind
from service.domain.snapshots import LinkedGraph

Steps = Mapping[NodeIdentity, Mapping[NodeIdentity, Edge]]

_SPELLED_OUT = 20
"""Nodes of a circle that a finding names."""


def graph_findings(graph: LinkedGraph, docsets: Collection[str], *, prefixed: bool) -> list[Diagnostic]:
    """Findings about the sources of these docsets. `prefixed`: files are named with their docset before them."""

    def is_asked(edge: Edge) -> bool:
        return graph.nodes[edge.source].docset in docsets

    def file_of(edge: Edge) -> str:
        return f"{graph.nodes[edge.source].docset}/{edge.file}" if prefixed else edge.file

    found = [
        _circle(circle, file_of(edge), edge.line)
        for circle in prerequisite_circles(graph)
        if (edge := next(filter(is_asked, circle), None)) is not None
    ]
    successors = {edge.source: edge.target for edge in graph.edges if edge.type is EdgeType.SUPERSEDED_BY}
    ends = _ends(successors)
    for edge in graph.edges:
        if edge.type is EdgeType.SUPERSEDED_BY and ends[edge.source] is None and is_asked(edge):
            found.append(_loop(_address(graph.nodes[edge.source]), file_of(edge), edge.line))
    for edge in graph.edges:
        target = graph.nodes[edge.target]
        # Within an estate its reader has said so, at the link itself.
        if target.kind is not NodeKind.RETIRED or edge.type is EdgeType.SUPERSEDED_BY or not is_asked(edge):
            continue
        if target.docset != graph.nodes[edge.source].docset:
            end = ends.get(edge.target)
            after = _address(graph.nodes[end]) if end is not None else None
            found.append(_superseded(_address(target), after, file_of(edge), edge.line))
    return found


def _ends(successors: Mapping[NodeIdentity, NodeIdentity]) -> dict[NodeIdentity, NodeIdentity | None]:
    """Where following redirections ends, None where it never does; every chain is walked once."""
    ends: dict[NodeIdentity, NodeIdentity | None] = {}
    for start in successors:
        walked: dict[NodeIdentity, None] = {}
        node: NodeIdentity = start
        while node in successors and node not in ends and node not in walked:
            walked[node] = None
            node = successors[node]
        end = None if node in walked else ends.get(node, node)
        ends |= dict.fromkeys(walked, end)
    return ends


def _address(node: Node) -> str:
    return node.url or node.identity.uid


def prerequisite_circles(graph: LinkedGraph) -> Iterator[list[Edge]]:
    """One circle of each set of nodes that require one another: a shortest one through its first node, from there."""
    steps: dict[NodeIdentity, dict[NodeIdentity, Edge]] = defaultdict(dict)
    for edge in graph.edges:
        if edge.type is EdgeType.DEPENDS_ON:
            steps[edge.source].setdefault(edge.target, edge)
    for component in _components(steps):
        yield _shortest(min(component), component, steps)


def _components(steps: Steps) -> Iterator[set[NodeIdentity]]:
    """Sets of two nodes or more that all lead to one another (Tarjan, SIAM J. Comput. 1972), without recursion."""
    order: dict[NodeIdentity, int] = {}
    low: dict[NodeIdentity, int] = {}
    path: list[NodeIdentity] = []
    on_path: set[NodeIdentity] = set()
    for start in sorted(steps):
        if start in order:
            continue
        work = [(start, iter(sorted(steps[start])))]
        order[start] = low[start] = len(order)
        path.append(start)
        on_path.add(start)
        while work:
            node, targets = work[-1]
            target = next(targets, None)
            if target is not None and target not in order:
                order[target] = low[target] = len(order)
                path.append(target)
                on_path.add(target)
                work.append((target, iter(sorted(steps.get(target, ())))))
            elif target is not None:
                if target in on_path:
                    low[node] = min(low[node], order[target])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == order[node]:
                    component = {path.pop()}
                    while node not in component:
                        component.add(path.pop())
                    on_path -= component
                    if len(component) > 1:
                        yield component


def _shortest(start: NodeIdentity, component: set[NodeIdentity], steps: Steps) -> list[Edge]:
    """Breadth first from `start` back to it; the component says that there is a way."""
    came: dict[NodeIdentity, Edge] = {}
    pending = deque([start])
    while start not in came:
        node = pending.popleft()
        for target, edge in sorted(steps[node].items()):
            if target in component and target not in came:
                came[target] = edge
                pending.append(target)
    circle = [came[start]]
    while circle[-1].source != start:
        circle.append(came[circle[-1].source])
    return circle[::-1]


def _circle(circle: list[Edge], file: str, line: int) -> Diagnostic:
    names = [edge.source.uid for edge in circle[:_SPELLED_OUT]]
    names.append(circle[0].source.uid if len(circle) <= _SPELLED_OUT else f"{len(circle) - _SPELLED_OUT} more")
    return Diagnostic(
        file,
        line,
        "prerequisite_cycle",
        f"The prerequisites go round in a circle: {' → '.join(names)}.",
        Severity.WARNING,
        fix="Take one of these prerequisites out, or link to it as related.",
    )


def _loop(address: str, file: str, line: int) -> Diagnostic:
    return Diagnostic(
        file,
        line,
        "redirect_loop",
        f"'{address}' is redirected in a circle, by way of another estate.",
        Severity.ERROR,
        fix="Let one of the redirections end at a page.",
    )


def _superseded(address: str, successor: str | None, file: str, line: int) -> Diagnostic:
    return Diagnostic(
        file,
        line,
        "superseded_target",
        f"The link to {address} points at a page of another estate that was redirected.",
        Severity.WARNING,
        fix=f"Link to {successor}." if successor is not None else "Link to what took its place, or take it out.",
    )
