"""What is refused before any tool is asked. Light to import: a server starts without GraphQL's library."""

from service.surfaces.problems import SurfaceRefused


class DocumentInvalid(SurfaceRefused):
    """What GraphQL itself refuses: syntax, names, types, variables. The code is that of any other wrong shape."""

    code = "request_invalid"


class QueryOverLimit(SurfaceRefused):
    """`limit` is the setting that bounds it; `found` is how much there is, where somebody counted to the end."""

    code = "query_over_limit"

    def __init__(self, limit: str, most: int, found: int | None = None) -> None:
        what = limit.removeprefix("graphql_").capitalize()
        counted = "more" if found is None else f"{found:,}"
        super().__init__(f"{what} of the query: {counted}, and at most {most:,} are answered ({limit}). Ask for less.")


class FragmentCycle(SurfaceRefused):
    code = "fragment_cycle"

    def __init__(self, name: str) -> None:
        super().__init__(f"The fragment {name[:100]} spreads itself; a query must end.")


class IntrospectionOff(SurfaceRefused):
    code = "introspection_off"

    def __init__(self) -> None:
        super().__init__("This server does not describe its schema over GraphQL (graphql_introspection).")
