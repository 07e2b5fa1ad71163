# The operator and what hooks need: Node, helm, kubectl, jq, bash.
#
#   FROM addon-operator
#   COPY modules /modules
#   COPY global-hooks /global-hooks
#
# It runs as user 65532. To install more, switch to root and back: USER root, RUN apk add ..., USER 65532:65532.

ARG ALPINE_VERSION=3.23
# The tools have the versions that the tests run with; a test compares them. To pin one to the byte, give its digest:
# --build-arg HELM_IMAGE=alpine/helm:3.17.3@sha256:...
ARG HELM_IMAGE=alpine/helm:3.17.3
ARG KUBECTL_IMAGE=registry.k8s.io/kubectl:v1.34.5
ARG JQ_IMAGE=ghcr.io/jqlang/jq:1.8.2

FROM ${HELM_IMAGE} AS helm
FROM ${KUBECTL_IMAGE} AS kubectl
FROM ${JQ_IMAGE} AS jq

FROM node:24-alpine${ALPINE_VERSION} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY packages/base/package.json ./packages/base/package.json
COPY packages/crontab/package.json ./packages/crontab/package.json
COPY packages/crypto/package.json ./packages/crypto/package.json
COPY packages/helm/package.json ./packages/helm/package.json
COPY packages/http-server/package.json ./packages/http-server/package.json
COPY packages/jq/package.json ./packages/jq/package.json
COPY packages/json/package.json ./packages/json/package.json
COPY packages/kube-client/package.json ./packages/kube-client/package.json
COPY packages/kube-sandbox/package.json ./packages/kube-sandbox/package.json
COPY packages/process/package.json ./packages/process/package.json
COPY packages/sdk/package.json ./packages/sdk/package.json
COPY packages/task-queue/package.json ./packages/task-queue/package.json
COPY packages/value-schemas/package.json ./packages/value-schemas/package.json
COPY packages/yaml/package.json ./packages/yaml/package.json
RUN npm ci --include=dev --include=optional
COPY tsconfig.json tsconfig.build.json ./
COPY bin ./bin
COPY packages ./packages
COPY src ./src
COPY ui ./ui
COPY shell_lib.sh ./shell_lib.sh
COPY frameworks ./frameworks
# dist/ contains what it needs but native code; the Node among the dependencies is for checkouts on machines with an older one.
RUN node bin/build.mjs \
  && find node_modules -mindepth 1 -maxdepth 1 ! -name koffi ! -name @koromix -exec rm -rf {} +

FROM alpine:${ALPINE_VERSION}
RUN apk add --no-cache bash ca-certificates libstdc++ sed tini \
  && addgroup -S -g 65532 addon-operator \
  && adduser -S -u 65532 -G addon-operator -h /home/addon-operator addon-operator \
  && mkdir -p /modules /global-hooks /tmp/addon-operator /var/run/addon-operator \
  && chown 65532:65532 /tmp/addon-operator /var/run/addon-operator \
  && ln -s /app/bin/addon-operator /addon-operator
COPY --from=helm /usr/bin/helm /bin/helm
COPY --from=kubectl /bin/kubectl /bin/kubectl
COPY --from=jq /jq /usr/bin/jq
COPY --from=build /usr/local/bin/node /usr/local/bin/node
COPY --from=build /app/package.json /app/package.json
COPY --from=build /app/bin/addon-operator /app/bin/addon-operator
COPY --from=build /app/node_modules /app/node_modules
COPY --from=build /app/dist /app/dist
# Hooks in bash source the library as $FRAMEWORK_DIR/shell_lib.sh or /shell_lib.sh.
COPY --from=build /app/shell_lib.sh /shell_lib.sh
COPY --from=build /app/frameworks/shell /frameworks/shell
ENV ADDON_OPERATOR_NODE=/usr/local/bin/node \
  MODULES_DIR=/modules \
  GLOBAL_HOOKS_DIR=/global-hooks \
  FRAMEWORK_DIR=/ \
  LOG_TYPE=json \
  NODE_ENV=production
EXPOSE 9650
# What V8 compiles is kept for the user that it was compiled for. The start itself fails without a cluster.
RUN mkdir /app/dist/.compile-cache && chown 65532:65532 /app/dist/.compile-cache
USER 65532:65532
RUN /addon-operator help >/dev/null && ! /addon-operator start --namespace=none --kube-config=/none >/dev/null
WORKDIR /
ENTRYPOINT ["/sbin/tini", "--", "/addon-operator"]
