# syntax=docker/dockerfile:1

# The Node that npm brings along for everybody else: what is tested is what runs here. A tag can move. Pin what you checked:
# --build-arg NODE_IMAGE=node:24.22.1-bookworm-slim@sha256:...
ARG NODE_IMAGE=node:24.22.1-bookworm-slim
# Debian's package is years older. It is one static program; its image has nothing else that is used here.
ARG CADDY_IMAGE=caddy:2.11.7-alpine

FROM $CADDY_IMAGE AS caddy

FROM $NODE_IMAGE AS build
WORKDIR /app

# Scripts of packages stay off: the native parts come ready made for this platform, and nothing may run here unseen.
COPY package.json package-lock.json .npmrc ./
COPY packages/age/package.json ./packages/age/
COPY packages/client/package.json ./packages/client/
COPY packages/import-password-pusher/package.json ./packages/import-password-pusher/
RUN npm ci --omit=dev --ignore-scripts

# --build-arg OPENTELEMETRY=true adds what tracing needs. Nobody else pays for it.
ARG OPENTELEMETRY=false
RUN if [ "$OPENTELEMETRY" = true ]; then \
      npm install --save-prod --ignore-scripts --omit=dev \
        @opentelemetry/api@1.9.1 \
        @opentelemetry/sdk-trace-base@2.8.0 \
        @opentelemetry/exporter-trace-otlp-http@0.220.0; \
    fi

COPY tsconfig.json ./
COPY src ./src
COPY packages ./packages
COPY scripts/build.ts scripts/bundles.ts ./scripts/
RUN node scripts/build.ts

# The image has its own Node, builds nothing more, and runs on one platform.
RUN rm -rf packages/*/src node_modules/node-linux-* node_modules/.bin node_modules/esbuild node_modules/@esbuild \
      node_modules/@modelcontextprotocol node_modules/zod \
      node_modules/better-sqlite3/deps node_modules/better-sqlite3/src \
 && find node_modules/better-sqlite3/prebuilds -type f ! -name "linux-$(node -p process.arch).node" -delete \
 && find node_modules/sodium-native/prebuilds -type f ! -path "*/linux-$(node -p process.arch)/*" -delete

FROM $NODE_IMAGE

LABEL org.opencontainers.image.title="Sealpush" \
      org.opencontainers.image.description="A self-hosted server for handing over a secret once" \
      org.opencontainers.image.version="3.0.0" \
      org.opencontainers.image.licenses="Apache-2.0"

# Caddy, below, and whatever else does not bring authorities of its own, trusts those of ca-certificates: without them, no
# certificate is obtained. curl is for health checks.
RUN apt-get update \
 && apt-get install --yes --no-install-recommends ca-certificates curl \
 && rm -rf /var/lib/apt/lists/*

# Volumes of Password Pusher's image belong to user 1000. Platforms that select a user themselves give it group 0.
# What installs software has no business in a running container.
RUN mkdir --mode=0770 /data /backup \
 && chown 1000:0 /data /backup \
 && rm -rf /usr/local/lib/node_modules /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack \
      /usr/local/bin/yarn /usr/local/bin/yarnpkg /opt/yarn-*

# Terminates TLS if TLS_DOMAIN is set.
COPY --from=caddy /usr/bin/caddy /usr/bin/caddy

WORKDIR /app
COPY deploy/container/sealpush deploy/container/sealpush-health deploy/container/sealpush-backups /usr/local/bin/
COPY deploy/container/Caddyfile ./
COPY package.json LICENSE ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/packages ./packages
COPY --from=build /app/dist ./dist

# By default the C library keeps most of the memory that large buffers have returned. With a fixed threshold it returns each
# of them to the system.
ENV NODE_ENV=production \
    MALLOC_ARENA_MAX=2 \
    MALLOC_MMAP_THRESHOLD_=32768 \
    HOST=0.0.0.0 \
    PORT=5100
USER 1000:1000
EXPOSE 5100
VOLUME /data

# The server ends by itself within 30 seconds of it: give it longer before you kill it (docker stop --time 40).
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
  CMD ["sealpush-health"]

ENTRYPOINT ["sealpush"]
CMD ["serve"]
