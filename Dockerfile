# The server over HTTP, for one folder of documents; docs/shared-server.md says how to run it.
FROM python:3.13-slim AS build
WORKDIR /src
COPY . .
RUN python -m venv /opt/mdvec \
    && /opt/mdvec/bin/pip install --no-cache-dir -c constraints.txt ./shared ./manage-documents ./mcp-server

FROM python:3.13-slim
COPY --from=build /opt/mdvec /opt/mdvec
# Any user may run it (--user); the one of the image owns the volume.
RUN useradd --uid 10001 --home-dir /data --no-create-home mdvec \
    && install -d -o mdvec -g mdvec -m 700 /data
ENV PATH=/opt/mdvec/bin:$PATH HOME=/data MDVEC_DATABASE_PATH=/data/vector-db.sqlite
USER 10001
VOLUME /data
EXPOSE 8765
HEALTHCHECK CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8765/health', timeout=2)"]
ENTRYPOINT ["mdvec-mcp", "--http", "0.0.0.0:8765", "--token-file", "/run/secrets/mdvec-token"]
CMD ["--docs-dir", "/docs", "--all-tools"]
