# An image with the command discan:
#   docker build -t discan .
#   docker run --rm --user "$(id -u):$(id -g)" -v "$PWD:/data" discan fit reviews/ -k 20 -o model/
FROM python:3.13-slim AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN python -m venv /opt/discan && /opt/discan/bin/pip install --no-cache-dir '.[parquet,cells,zstandard]'

FROM python:3.13-slim
COPY --from=build /opt/discan /opt/discan
# compiled code is kept in a folder of the container, which any user may write to
RUN useradd --create-home discan && mkdir -m 1777 /cache && mkdir /data && chown discan /data
ENV PATH=/opt/discan/bin:$PATH NUMBA_CACHE_DIR=/cache PYTHONUTF8=1
USER discan
WORKDIR /data
ENTRYPOINT ["discan"]
CMD ["--help"]
