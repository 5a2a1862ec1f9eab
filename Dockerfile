# syntax=docker/dockerfile:1.10
# The service:  docker build -t clubcascade .  &&  docker run -p 8080:8080 -v clubcascade:/data clubcascade
FROM python:3.13-slim-bookworm AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY src ./src
RUN python -m venv /opt/clubcascade \
    && /opt/clubcascade/bin/pip install --no-cache-dir ".[service,postgres,features]"

FROM python:3.13-slim-bookworm
RUN useradd --system --uid 10001 --create-home clubcascade \
    && install -d -o clubcascade -g clubcascade /data
COPY --from=build /opt/clubcascade /opt/clubcascade
ENV PATH=/opt/clubcascade/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    NUMBA_CACHE_DIR=/data/numba
USER 10001
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=30s --timeout=5s --start-period=120s \
    CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8080/healthz', timeout=4)"]
ENTRYPOINT ["clubcascade"]
CMD ["serve", "--host", "0.0.0.0", "--port", "8080", "--dir", "/data"]
