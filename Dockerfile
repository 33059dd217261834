# rest-echo alone in an empty image: docker build -t rest-echo . && docker run --rm -p 3000:3000 --cpus=1 rest-echo

FROM debian:trixie-slim AS build
# g++ runs the link-time optimisation in parallel by make.
RUN apt-get update \
 && apt-get install -y --no-install-recommends g++ make cmake ninja-build \
      libsimdjson-dev libfmt-dev libcli11-dev \
 && rm -rf /var/lib/apt/lists/*
# What the binary contains besides our own code wants its notices kept.
RUN mkdir /licenses \
 && for package in libc6-dev libstdc++-14-dev libsimdjson-dev libfmt-dev libcli11-dev; do \
      cp "/usr/share/doc/$package/copyright" "/licenses/$package" || exit 1; \
    done
WORKDIR /source
COPY . .
ARG REVISION=""
RUN cmake --preset static -DREST_ECHO_COMMIT="$REVISION" \
 && cmake --build --preset static --target rest-echo \
 && strip build/static/rest-echo

FROM scratch
ARG VERSION="0.1.0"
ARG REVISION=""
LABEL org.opencontainers.image.title="rest-echo" \
      org.opencontainers.image.description="A fast, strict JSON echo server" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION"
COPY --from=build /licenses /licenses
COPY LICENSE /LICENSE
COPY --from=build /source/build/static/rest-echo /rest-echo
# Numeric, as there is no /etc/passwd here, and so that Kubernetes can tell it is not root.
USER 65532:65532
EXPOSE 3000
# Asks the port that PORT or REST_ECHO_PORT names, like the server.
HEALTHCHECK --interval=10s --timeout=2s --start-period=2s --retries=3 CMD ["/rest-echo", "--healthcheck"]
ENTRYPOINT ["/rest-echo"]
