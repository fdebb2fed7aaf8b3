# ReplicaLab in a container: docker build -t replicalab .
# Packages are pinned by hash. The server runs without root and writes to /data only.

FROM docker.io/library/python:3.11-slim-bookworm AS installed
WORKDIR /app
COPY requirements.txt ./
RUN python -m venv /venv && /venv/bin/pip install --no-cache-dir --disable-pip-version-check \
      --require-hashes -r requirements.txt \
 && /venv/bin/pip uninstall --yes --quiet pip setuptools
COPY app.py deploy/ready.py ./
COPY .streamlit/config.toml .streamlit/
COPY pages pages
COPY scenarios scenarios
COPY replicalab replicalab
RUN /venv/bin/python -m compileall -q replicalab pages app.py

FROM docker.io/library/python:3.11-slim-bookworm
# WeasyPrint needs Pango for PDF.
RUN export DEBIAN_FRONTEND=noninteractive \
 && apt-get update -qq && apt-get install -y -qq --no-install-recommends libpango-1.0-0 libpangoft2-1.0-0 \
 && rm -rf /var/lib/apt/lists/* \
 && python -m pip uninstall --yes --quiet --root-user-action ignore setuptools wheel pip \
 && install -d -o 10001 -g 10001 -m 700 /data
COPY --from=installed /venv /venv
COPY --from=installed /app /app
WORKDIR /app
USER 10001:10001
# The container listens on all its addresses; the allowed hosts limit who may ask.
ENV HOME=/tmp REPLICALAB_DATA=/data PYTHONDONTWRITEBYTECODE=1 \
    STREAMLIT_SERVER_ADDRESS=0.0.0.0 STREAMLIT_BROWSER_SERVER_ADDRESS=localhost \
    STREAMLIT_SERVER_ALLOWED_HOSTS="localhost 127.0.0.1" REPLICALAB_LLM_ALLOWED=none
VOLUME /data
EXPOSE 8501
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s CMD ["/venv/bin/python", "/app/ready.py"]
CMD ["/venv/bin/python", "-m", "replicalab", "serve", "--no-browser", "--port", "8501"]
