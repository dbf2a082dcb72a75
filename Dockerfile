# One image for the API (`serve`), the worker (`worker`) and the check of a configuration (`check`).
# There is no build step: the sources run as they are. The first stage only fetches packages and makes the demo's database.

FROM docker.io/library/node:24-trixie-slim AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# The optional packages bring a Node.js of their own along; the image has one.
RUN npm ci --omit=dev --omit=optional
COPY configs configs
RUN node configs/demo/create.ts \
 # Sources of SQLite and builds for browsers, which nothing loads. Of Swagger UI, two files are sent to browsers.
 && rm -rf node_modules/better-sqlite3/deps node_modules/better-sqlite3/src node_modules/exceljs/dist/*.js \
      node_modules/exceljs/dist/*.map node_modules/swagger-ui-dist/*.map node_modules/swagger-ui-dist/*es-bundle* \
      node_modules/swagger-ui-dist/swagger-ui-standalone-preset.js node_modules/swagger-ui-dist/swagger-ui.js

FROM gcr.io/distroless/nodejs24-debian13:nonroot
WORKDIR /app
COPY --from=packages /app/node_modules node_modules
# Configuration, exports, uploads and the demo's database: the only folder that is written to, beside /tmp.
COPY --from=packages --chown=65532:65532 /app/data data
COPY package.json LICENSE ./
COPY configs configs
COPY core core
COPY db db
COPY jobs jobs
COPY app app
# The demo is in configs.
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 CONFIG_DIR=/app/data/configs
EXPOSE 3000
VOLUME /app/data
HEALTHCHECK --interval=10s --timeout=3s --start-period=15s \
  CMD ["/nodejs/bin/node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/health/live`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["/nodejs/bin/node", "app/start/cli.ts"]
# Without a configuration, the first start writes one for the database of DATABASE_URL.
CMD ["serve", "--init"]
