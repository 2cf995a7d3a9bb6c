# Two images; docs/containers.md says how to run them.
#   docker build --tag echoline .                                        the daemon and the command line
#   docker build --tag echoline-trainer --target trainer .               Python with the echoline package
# podman: the same with --format docker, for the HEALTHCHECK.
ARG DEBIAN=debian:bookworm-slim
# Where the build stage begins: another image may have the packages of `build` and `image`, or ccache, already.
ARG BUILDER=${DEBIAN}

FROM ${BUILDER} AS build
COPY deploy/packages.txt deploy/install-packages.sh /src/deploy/
RUN /src/deploy/install-packages.sh build image
COPY . /src
RUN cmake -S /src -B /build -G Ninja -DCMAKE_BUILD_TYPE=Release -DECHOLINE_TESTS=OFF \
        -DCMAKE_INSTALL_PREFIX=/usr \
    && cmake --build /build \
    && DESTDIR=/image cmake --install /build --strip \
    && cd /src/client/python \
    && ECHOLINE_LIBRARY=/build/client/python/_echoline.abi3.so python3 setup.py -q bdist_wheel --dist-dir /wheel \
    && python3 -m zipfile -e /wheel/echoline-*.whl /package

# The daemon's own files and those of the system that they need, found in a system that has the `run` packages only.
FROM ${DEBIAN} AS files
COPY deploy/packages.txt deploy/install-packages.sh deploy/image-root.sh /deploy/
RUN /deploy/install-packages.sh run
COPY --from=build /image/usr /usr
RUN /deploy/image-root.sh /image /usr/bin/echolined /usr/bin/echoline /usr/libexec/echoline/echoline-plugin-runner

FROM ${DEBIAN} AS trainer
ARG VERSION=0.1.0
LABEL org.opencontainers.image.title="Echoline trainer" \
      org.opencontainers.image.description="Python with numpy and the echoline package: an example of a training image" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY deploy/packages.txt deploy/install-packages.sh /deploy/
RUN /deploy/install-packages.sh trainer \
    && rm -rf /deploy /var/lib/apt/lists/* /var/cache/apt /var/log/* \
    && install -d -o 10002 -g 10001 /samples
COPY --from=build /package /usr/lib/python3/dist-packages
COPY deploy/trainer /usr/share/echoline
ENV XDG_RUNTIME_DIR=/run PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
# Another user than the daemon's, in the daemon's group: that opens the door and no more.
USER 10002:10001
CMD ["python3", "/usr/share/echoline/train.py"]

FROM scratch AS daemon
ARG VERSION=0.1.0
ARG SOURCE=
ARG REVISION=
LABEL org.opencontainers.image.title="Echoline" \
      org.opencontainers.image.description="Streams, prepares, echoes and shares training batches" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.source="${SOURCE}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=files /image /
# By number, so that Kubernetes sees that it is not root.
USER 10001:10001
# The default of daemon.runtime_dir, and of every client, is then /run/echoline.
ENV PATH=/usr/bin XDG_RUNTIME_DIR=/run
VOLUME ["/run/echoline", "/var/lib/echoline"]
EXPOSE 9464
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 CMD ["echoline", "list"]
ENTRYPOINT ["echolined"]
CMD ["--config", "/etc/echoline/echoline.yaml"]
