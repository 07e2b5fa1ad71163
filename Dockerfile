# The operator and what hooks need: Node, helm, kubectl, jq, bash.
#
#   FROM addon-operator
#   COPY modules /modules
#   COPY global-hooks /global-hooks
#
# It runs as user 65532. To install more, switch to root and back: USER root, RUN apt-get update && apt-get install -y ...,
# USER 65532:65532. Dockerfiles for what images usually add: examples/dockerfiles. How to build this one and with which
# arguments: release/README.md.

# The digests are those of images for all platforms. The Node is that of the tests.
ARG NODE_IMAGE=node:24.21.0-trixie-slim@sha256:8ec5d7557396cfe32d21c3f9c13072355ceab22b584578ca4bb28af31120cffe
ARG DEBIAN_IMAGE=debian:trixie-slim@sha256:a29215f6a35e51e22adffa17f89e9d2ef06214e64a2bad10d765c46aea49f11f

FROM ${DEBIAN_IMAGE} AS runtime
# Packages as they were at this time: 20261101T000000Z. Empty: as they are today.
ARG DEBIAN_SNAPSHOT=
# More packages, for hooks that need them: "python3 gettext-base".
ARG EXTRA_PACKAGES=
# The jq of the tests is in a newer release of Debian. Mirrors drop a version when there is a newer one, snapshots never.
ARG JQ_VERSION=1.8.2-1
ARG JQ_RELEASE=forky
ARG JQ_SNAPSHOT=20261101T000000Z
RUN set -eu; . /etc/os-release; \
  archive=http://snapshot.debian.org/archive; \
  if [ -n "${DEBIAN_SNAPSHOT}" ]; then \
    rm -f /etc/apt/sources.list /etc/apt/sources.list.d/*; \
    echo "deb [check-valid-until=no] ${archive}/debian/${DEBIAN_SNAPSHOT} ${VERSION_CODENAME} main" >/etc/apt/sources.list; \
    echo "deb [check-valid-until=no] ${archive}/debian-security/${DEBIAN_SNAPSHOT} ${VERSION_CODENAME}-security main" >>/etc/apt/sources.list; \
  fi; \
  printf 'Package: *\nPin: release n=%s\nPin-Priority: 1\n' "${JQ_RELEASE}" >/etc/apt/preferences.d/jq; \
  install() { apt-get install -y --no-install-recommends -o DPkg::Options::=--force-unsafe-io "$@"; }; \
  install_jq() { \
    echo "deb [check-valid-until=no] $1 ${JQ_RELEASE} main" >/etc/apt/sources.list.d/jq.list; \
    apt-get update -o Acquire::Languages=none; \
    install "jq=${JQ_VERSION}" "libjq1=${JQ_VERSION}"; \
  }; \
  export DEBIAN_FRONTEND=noninteractive; \
  install_jq "http://deb.debian.org/debian" || install_jq "${archive}/debian/${JQ_SNAPSHOT}"; \
  install ca-certificates curl libstdc++6 tini tzdata ${EXTRA_PACKAGES}; \
  rm -rf /etc/apt/sources.list.d/jq.list /etc/apt/preferences.d/jq /var/lib/apt/lists/* /var/cache/apt/* \
    /var/cache/ldconfig/aux-cache /var/log/apt /var/log/*.log; \
  echo 'addon-operator:x:65532:' >>/etc/group; \
  echo 'addon-operator:x:65532:65532::/home/addon-operator:/usr/sbin/nologin' >>/etc/passwd; \
  mkdir -p /modules /global-hooks /home/addon-operator /tmp/addon-operator /var/run/addon-operator; \
  chown 65532:65532 /home/addon-operator /tmp/addon-operator /var/run/addon-operator; \
  ln -s /usr/bin/tini /sbin/tini; \
  ln -s /app/bin/addon-operator /addon-operator; \
  ln -s /app/bin/addon-operator /shell-operator; \
  ln -s /frameworks /framework; \
  ln -s /app/bin/addon-operator /usr/local/bin/addon-operator; \
  ln -s /app/bin/addon-operator /usr/local/bin/kubectl-addons

FROM ${NODE_IMAGE} AS build
# For strip: the symbols of Node are 18 MB.
RUN apt-get update -o Acquire::Languages=none \
  && apt-get install -y --no-install-recommends binutils \
  && rm -rf /var/lib/apt/lists/*
ARG HELM_MAJOR=4
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY packages/base/package.json ./packages/base/package.json
COPY packages/concurrency/package.json ./packages/concurrency/package.json
COPY packages/crontab/package.json ./packages/crontab/package.json
COPY packages/crypto/package.json ./packages/crypto/package.json
COPY packages/files/package.json ./packages/files/package.json
COPY packages/helm/package.json ./packages/helm/package.json
COPY packages/http-server/package.json ./packages/http-server/package.json
COPY packages/jq/package.json ./packages/jq/package.json
COPY packages/json/package.json ./packages/json/package.json
COPY packages/kube-client/package.json ./packages/kube-client/package.json
COPY packages/kube-sandbox/package.json ./packages/kube-sandbox/package.json
COPY packages/logging/package.json ./packages/logging/package.json
COPY packages/masking/package.json ./packages/masking/package.json
COPY packages/oci/package.json ./packages/oci/package.json
COPY packages/process/package.json ./packages/process/package.json
COPY packages/script-threads/package.json ./packages/script-threads/package.json
COPY packages/sdk/package.json ./packages/sdk/package.json
COPY packages/strings/package.json ./packages/strings/package.json
COPY packages/task-queue/package.json ./packages/task-queue/package.json
COPY packages/tracing/package.json ./packages/tracing/package.json
COPY packages/value-schemas/package.json ./packages/value-schemas/package.json
COPY packages/yaml/package.json ./packages/yaml/package.json
RUN npm ci --include=dev --include=optional
# Tools before the sources, which change more often.
COPY release/image ./release/image
COPY packages/base ./packages/base
COPY packages/files ./packages/files
COPY packages/strings ./packages/strings
COPY src/tools/pinned-tools ./src/tools/pinned-tools
RUN node release/image/fetch-tools.ts "${HELM_MAJOR}" /out/bin && strip /out/bin/node
COPY tsconfig.json tsconfig.build.json ./
COPY bin ./bin
COPY packages ./packages
COPY src ./src
COPY ui ./ui
COPY docs ./docs
COPY shell_lib.sh ./shell_lib.sh
COPY frameworks ./frameworks
RUN node bin/build.mjs
COPY --from=runtime /var/lib/dpkg/status /out/dpkg-status
# dist/ contains what it needs but native code; the Node among the dependencies is for checkouts on machines with an older one.
RUN npm sbom --omit=dev --package-lock-only --sbom-format=cyclonedx >/out/npm.cdx.json \
  && node release/image/write-sbom.ts /out/npm.cdx.json /out/dpkg-status /out/bin/versions.json >/out/addon-operator.cdx.json \
  && find node_modules -mindepth 1 -maxdepth 1 ! -name koffi ! -name @koromix -exec rm -rf {} + \
  && rm -rf node_modules/koffi/vendor node_modules/koffi/doc node_modules/@koromix/*/musl_*

FROM runtime
COPY --from=build /out/bin/node /usr/local/bin/node
COPY --from=build /out/bin/helm /out/bin/kubectl /usr/bin/
COPY --from=build /out/addon-operator.cdx.json /usr/share/sbom/addon-operator.cdx.json
COPY --from=build /app/node_modules /app/node_modules
# Hooks in bash source the library as $FRAMEWORK_DIR/shell_lib.sh or /shell_lib.sh.
COPY --from=build /app/shell_lib.sh /shell_lib.sh
COPY --from=build /app/frameworks/shell /frameworks/shell
COPY --from=build /app/package.json /app/package.json
COPY --from=build /app/bin/addon-operator /app/bin/addon-operator
COPY --from=build /app/dist /app/dist
ENV ADDON_OPERATOR_NODE=/usr/local/bin/node \
  MODULES_DIR=/modules \
  IMAGE_HOOKS_DIRS=/global-hooks:/hooks \
  FRAMEWORK_DIR=/ \
  LOG_TYPE=json \
  NODE_ENV=production
EXPOSE 9650
# What V8 compiles is kept for the user that it was compiled for. With a seed the bytes are always the same; those of the launcher
# depend on when it is ended, and are left out.
# Temporary files are written outside of the layer. The start itself fails without a cluster.
RUN mkdir /app/dist/.compile-cache && chown 65532:65532 /app/dist/.compile-cache
USER 65532:65532
RUN cd /app/dist; export TMPDIR=/dev/shm; \
  run() { "${ADDON_OPERATOR_NODE}" --random-seed=1 --disable-proto=delete main.js "$@" >/dev/null; }; \
  run help && own=$(ls .compile-cache) \
  && ! run start --namespace=none --kube-config=/none --tmp-dir=/dev/shm/addon-operator \
  && find .compile-cache -mindepth 1 -maxdepth 1 ! -name "${own}" -exec rm -r {} +
WORKDIR /
ENTRYPOINT ["/sbin/tini", "--", "/addon-operator"]
CMD ["start"]
ARG VERSION=0.1.0
LABEL org.opencontainers.image.title="addon-operator" \
  org.opencontainers.image.description="Kubernetes addon operator: modules of Helm charts and hooks" \
  org.opencontainers.image.licenses="Apache-2.0" \
  org.opencontainers.image.version="${VERSION}"
