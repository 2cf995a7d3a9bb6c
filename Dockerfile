# The daemon and the command line on a slim Debian, without build tools and without root.
#   docker build -t echoline .        (podman: --format docker, for the HEALTHCHECK)
#   docker run --shm-size=2g -v /etc/echoline:/etc/echoline:ro -v echoline-run:/run/echoline echoline
FROM debian:bookworm-slim AS build
COPY deploy/packages.txt deploy/install-packages.sh /src/deploy/
RUN /src/deploy/install-packages.sh build
COPY . /src
RUN cmake -S /src -B /build -G Ninja -DCMAKE_BUILD_TYPE=Release -DECHOLINE_TESTS=OFF \
        -DCMAKE_INSTALL_PREFIX=/usr \
    && cmake --build /build \
    && DESTDIR=/image cmake --install /build --strip

FROM debian:bookworm-slim
COPY deploy/packages.txt deploy/install-packages.sh /tmp/deploy/
RUN /tmp/deploy/install-packages.sh run \
    && rm -rf /tmp/deploy /var/lib/apt/lists/* \
    && useradd --system --home-dir /var/lib/echoline --create-home --shell /usr/sbin/nologin echoline \
    && install -d -o echoline -g echoline -m 0755 /run/echoline /etc/echoline
COPY --from=build /image/usr /usr
USER echoline
# The default of daemon.runtime_dir, and of every client, is then /run/echoline.
ENV XDG_RUNTIME_DIR=/run
VOLUME ["/run/echoline", "/var/lib/echoline"]
EXPOSE 9464
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s CMD ["echoline", "list"]
ENTRYPOINT ["echolined"]
CMD ["--config", "/etc/echoline/echoline.yaml"]
