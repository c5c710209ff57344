# syntax=docker/dockerfile:1
# The image of gpuscope: agent and collector, for linux/amd64 and linux/arm64. docs/image.md tells how to build it.

# Pin it for production: BASE=docker.io/library/python:3.13-slim-trixie@sha256:... Which digest that is, only the
# registry tells, so that none stands here; an image of one's own with the same Python is as good.
ARG BASE=docker.io/library/python:3.13-slim-trixie
# Where BASE has no pip or venv (a distroless image), another image with the same Python at the same path.
ARG BUILDER=${BASE}

FROM ${BUILDER} AS build
# What `gpuscope collector --kubernetes` needs; EXTRAS= leaves it out, for an image that is only ever an agent.
ARG EXTRAS=collector
# Seconds since 1970 that files of the wheel bear, such as the time of the commit.
ARG SOURCE_DATE_EPOCH=1735689600
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore PYTHONDONTWRITEBYTECODE=1
WORKDIR /src
COPY wheels/ /wheels/
COPY pyproject.toml README.md LICENSE ./
COPY exporter/ exporter/
COPY generator/gpuscope_generator/ generator/gpuscope_generator/
# Wheels in the folder wheels/ mean that there is no index to ask. Byte code is compiled at build time, since at run time
# the file system is read-only, and by content, so that two builds of one commit are alike.
RUN set -eu; \
    if ls /wheels/*.whl >/dev/null 2>&1; then export PIP_NO_INDEX=1 PIP_FIND_LINKS=/wheels; fi; \
    python3 -m venv /tools; \
    python3 -m venv --without-pip /opt/gpuscope; \
    /tools/bin/pip wheel --quiet --no-deps --wheel-dir /dist .; \
    wheel=$(ls /dist/gpuscope-*.whl); \
    /tools/bin/pip --python /opt/gpuscope/bin/python install --quiet --no-compile "${wheel}${EXTRAS:+[${EXTRAS}]}"; \
    site=$(/opt/gpuscope/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))'); \
    rm -rf "${site}/gpuscope_generator" "${site}"/gpuscope-*.dist-info/direct_url.json; \
    find /opt/gpuscope/bin -type f ! -name gpuscope -delete; \
    /opt/gpuscope/bin/python -m compileall -q -j 1 --invalidation-mode unchecked-hash "${site}"; \
    find /opt/gpuscope -exec touch --no-dereference --date="@${SOURCE_DATE_EPOCH}" {} +; \
    /opt/gpuscope/bin/gpuscope --version

FROM ${BASE}
ARG VERSION=0.1.0
ARG REVISION=unknown
ARG CREATED=1970-01-01T00:00:00Z
LABEL org.opencontainers.image.title="gpuscope" \
    org.opencontainers.image.description="GPU observability for Kubernetes and Slurm: agent and collector" \
    org.opencontainers.image.licenses="Apache-2.0" \
    org.opencontainers.image.version="${VERSION}" \
    org.opencontainers.image.revision="${REVISION}" \
    org.opencontainers.image.created="${CREATED}"
COPY --from=build /opt/gpuscope /opt/gpuscope
# The container toolkit mounts all GPUs, and of the driver no more than NVML (`utility`). Both can be overridden.
ENV PATH=/opt/gpuscope/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 \
    NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=utility
USER 65532:65532
# agent, collector
EXPOSE 9836 9837
STOPSIGNAL SIGTERM
ENTRYPOINT ["/opt/gpuscope/bin/gpuscope"]
CMD ["agent"]
