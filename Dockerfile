# All images of the project. `make images` builds them, with Docker where an engine runs and with buildah elsewhere;
# it makes dist/*.whl and dist/bin first. A plain `docker build --target operator .` needs those two as well.
#
# BASE_IMAGE is any Debian 12 image; Python is installed where it lacks. Without a registry, `make images` passes one
# that debootstrap made.
ARG BASE_IMAGE=debian:bookworm-slim

FROM ${BASE_IMAGE} AS base
RUN command -v python3 >/dev/null && python3 -c 'import ensurepip' 2>/dev/null \
 || { apt-get update \
   && apt-get install -y --no-install-recommends ca-certificates python3 python3-venv \
   && rm -rf /var/lib/apt/lists/*; }
ENV PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1

# pip works from an environment of its own that does not stay, so what is shipped has no installer in it. Byte code is
# made here, since containers run with a read-only root and would compile everything anew at each start; it is not
# checked against the sources again, which saves a look at each file.
FROM base AS dependencies
COPY requirements.lock /tmp/requirements.lock
RUN python3 -m venv /opt/pip \
 && python3 -m venv --without-pip /opt/venv \
 && /opt/pip/bin/pip --python /opt/venv/bin/python install --no-cache-dir --no-compile --no-deps \
      --disable-pip-version-check --root-user-action=ignore --require-hashes -r /tmp/requirements.lock \
 && rm -rf /opt/pip /tmp/requirements.lock \
 && find /opt/venv -type d -name tests -prune -exec rm -rf {} + \
 && /opt/venv/bin/python -m compileall -q -j 0 --invalidation-mode unchecked-hash /opt/venv/lib

FROM dependencies AS installer
RUN python3 -m venv /opt/pip

FROM installer AS application
COPY dist/*.whl /tmp/
RUN /opt/pip/bin/pip --python /opt/venv/bin/python install --no-cache-dir --no-compile --no-deps --no-index \
      --disable-pip-version-check --no-warn-script-location --root-user-action=ignore \
      --root /application /tmp/*.whl \
 && /opt/venv/bin/python -m compileall -q --invalidation-mode unchecked-hash -s /application /application

FROM dependencies AS runtime
COPY --from=application /application /
USER 65532:65532

FROM runtime AS operator
ENTRYPOINT ["/opt/venv/bin/oasis-operator"]

FROM runtime AS sidecar
COPY dist/bin/entry /opt/bin/entry
ENTRYPOINT ["/opt/venv/bin/oasis-sidecar"]

# The provider of databases: the contract's routes and the server of Debian's packages, one for each environment.
# The packages are unpacked and not configured: that would make keys and a server which nobody here uses.
FROM base AS postgresql
RUN apt-get update \
 && apt-get install -y --no-install-recommends --download-only postgresql-15 postgresql-15-pgaudit \
 && dpkg --unpack --force-depends /var/cache/apt/archives/*.deb \
 && ldconfig \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt/archives/*.deb \
 && useradd --uid 65532 --no-create-home databases \
 && mkdir /var/lib/databases && chown 65532:65532 /var/lib/databases

FROM postgresql AS databases
COPY --from=dependencies /opt/venv /opt/venv
COPY --from=application /application /
USER 65532:65532
ENTRYPOINT ["/opt/venv/bin/oasis-database-provider"]

# The control plane of a disposable environment. The launcher changes most often and comes last.
FROM scratch AS control-plane
COPY dist/bin/etcd dist/bin/kube-apiserver dist/bin/kube-controller-manager dist/bin/kube-scheduler dist/bin/kwok /bin/
COPY dist/bin/prometheus /bin/prometheus
COPY dist/bin/launcher /bin/launcher

# What etcd begins with: the objects that a first start makes, which is a fifth of its work. See sandbox/launcher/seed.go.
FROM control-plane AS seed
RUN ["/bin/launcher", "seed", "/seed"]

FROM control-plane AS sandbox
COPY --from=seed /seed /seed
USER 65532:65532
ENTRYPOINT ["/bin/launcher"]

# The agent under evaluation in examples and tests. It has nothing of this project in it: an agent can read its image.
FROM base AS reference-agent
COPY e2e/agents/ /app/
WORKDIR /app
USER 65532:65532
ENTRYPOINT ["python3", "/app/agent.py"]

# Agents that others made, as the registries have them, for e2e/test_agents_real.py. Built only when asked for by name.
FROM base AS agent-tools
RUN python3 -m venv /opt/pip && python3 -m venv --without-pip /opt/venv
COPY dist/bin/kubectl /usr/local/bin/kubectl

FROM agent-tools AS agent-holmes
COPY e2e/real/holmes/requirements.lock /tmp/
RUN /opt/pip/bin/pip --python /opt/venv/bin/python install --no-cache-dir --no-deps \
      --disable-pip-version-check --root-user-action=ignore -r /tmp/requirements.lock
USER 65532:65532
ENTRYPOINT ["/opt/venv/bin/holmes"]

FROM agent-tools AS agent-shell
COPY e2e/real/shell/requirements.lock /tmp/
RUN /opt/pip/bin/pip --python /opt/venv/bin/python install --no-cache-dir --no-deps \
      --disable-pip-version-check --root-user-action=ignore -r /tmp/requirements.lock
USER 65532:65532
ENTRYPOINT ["/opt/venv/bin/mini"]

FROM agent-tools AS agent-mcp
COPY e2e/real/mcp/requirements.lock /tmp/
RUN /opt/pip/bin/pip --python /opt/venv/bin/python install --no-cache-dir --no-deps \
      --disable-pip-version-check --root-user-action=ignore -r /tmp/requirements.lock
COPY dist/node/mcp/node_modules/kubernetes-mcp-server-linux-amd64/bin/kubernetes-mcp-server-linux-amd64 \
     /usr/local/bin/kubernetes-mcp-server
COPY e2e/real/mcp/helper.py /app/helper.py
USER 65532:65532
ENTRYPOINT ["/opt/venv/bin/python", "/app/helper.py"]
