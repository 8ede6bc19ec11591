# Two stages: wheels are installed where pip is, and run where it isn't needed.
FROM python:3.11-slim AS build
WORKDIR /build
COPY requirements.lock requirements-tokenizer.lock ./
RUN python -m venv /service \
    && /service/bin/pip install --no-cache-dir --require-hashes --requirement requirements.lock \
    && /service/bin/pip install --no-cache-dir --require-hashes --no-deps --requirement requirements-tokenizer.lock
COPY pyproject.toml README.md LICENSE ./
COPY cypher_guard cypher_guard
COPY service service
COPY adapters adapters
COPY migrations migrations
RUN /service/bin/pip install --no-cache-dir --no-deps --no-build-isolation . \
    && /service/bin/python -m adapters.embedding.check \
    && /service/bin/pip uninstall --yes pip

FROM python:3.11-slim
RUN useradd --system --uid 10001 --home-dir /data service && install --directory --owner=10001 /data
COPY --from=build /service /service
ENV PATH=/service/bin:$PATH PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
USER 10001
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=10s --start-period=60s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8080/livez', timeout=5)"]
ENTRYPOINT ["cogitave-query", "--data", "/data"]
CMD ["serve"]
