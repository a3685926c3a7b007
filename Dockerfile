# An image for the CPU that runs the whole journey on the embedded graph, as a plain user:
#   docker build -t figure_kedro --build-arg TORCH_INDEX=<the index of CPU builds that PyTorch's start page names> .
#   docker run --rm -v figure_data:/home/figure/project/data figure_kedro --params dataset=csbm
# Without TORCH_INDEX pip takes the build that its own index offers, on Linux mostly the one with CUDA libraries.
FROM python:3.12-slim AS wheel
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.12-slim
ARG TORCH_INDEX=""
COPY constraints.txt /tmp/constraints.txt
COPY --from=wheel /wheels /tmp/wheels
RUN pip install --no-cache-dir -c /tmp/constraints.txt ${TORCH_INDEX:+--extra-index-url "$TORCH_INDEX"} /tmp/wheels/*.whl \
    && rm -r /tmp/wheels /tmp/constraints.txt
RUN useradd --create-home figure && mkdir -p /home/figure/project/data && chown -R figure /home/figure/project
USER figure
WORKDIR /home/figure/project
COPY --chown=figure .telemetry ./
COPY --chown=figure conf conf
RUN mkdir -p conf/local
ENTRYPOINT ["figure-kedro"]
