"""The engines as containers, where a Docker engine answers."""

import functools
import secrets
from collections.abc import Iterator
from contextlib import contextmanager

from stack.settings import NEO4J_SETTINGS, OPENSEARCH_SETTINGS

NEO4J_IMAGE = "neo4j:2026.08.1"
OPENSEARCH_IMAGE = "opensearchproject/opensearch:3.9.0"
QDRANT_IMAGE = "qdrant/qdrant:v1.18.3"
_READY_WITHIN_SECONDS = 120


@functools.cache
def docker_answers() -> bool:
    """Whether a Docker engine is there; having only its client isn't enough."""
    import docker
    from docker.errors import DockerException

    try:
        return bool(docker.from_env(timeout=5).ping())
    except DockerException:
        return False


def neo4j_environment(name: str) -> str:
    """A setting of neo4j.conf as the image's environment variable: `_` doubled, `.` to `_`."""
    return "NEO4J_" + name.replace("_", "__").replace(".", "_")


@contextmanager
def neo4j() -> Iterator[tuple[str, str]]:
    """(Bolt address, password)."""
    from testcontainers.core.container import DockerContainer
    from testcontainers.core.waiting_utils import wait_for_logs

    password = secrets.token_urlsafe(24)
    container = DockerContainer(NEO4J_IMAGE).with_exposed_ports(7687)
    container.with_env("NEO4J_AUTH", f"neo4j/{password}").with_env("NEO4J_PLUGINS", '["graph-data-science"]')
    for name, value in NEO4J_SETTINGS.items():
        container.with_env(neo4j_environment(name), value)
    with container:
        wait_for_logs(container, "Started.", timeout=_READY_WITHIN_SECONDS)
        yield f"bolt://{container.get_container_host_ip()}:{container.get_exposed_port(7687)}", password


@contextmanager
def opensearch() -> Iterator[str]:
    from testcontainers.core.container import DockerContainer
    from testcontainers.core.waiting_utils import wait_for_logs

    container = DockerContainer(OPENSEARCH_IMAGE).with_exposed_ports(9200)
    container.with_env("DISABLE_SECURITY_PLUGIN", "true").with_env("DISABLE_INSTALL_DEMO_CONFIG", "true")
    for name, value in OPENSEARCH_SETTINGS.items():
        container.with_env(name, value)
    with container:
        wait_for_logs(container, r"\] started", timeout=_READY_WITHIN_SECONDS)
        yield f"http://{container.get_container_host_ip()}:{container.get_exposed_port(9200)}"


@contextmanager
def qdrant() -> Iterator[str]:
    from testcontainers.core.container import DockerContainer
    from testcontainers.core.waiting_utils import wait_for_logs

    with DockerContainer(QDRANT_IMAGE).with_exposed_ports(6333) as container:
        wait_for_logs(container, "Qdrant HTTP listening", timeout=_READY_WITHIN_SECONDS)
        yield f"http://{container.get_container_host_ip()}:{container.get_exposed_port(6333)}"
