# An image for the machines of a Ray cluster: Ray's own, with this package, its packages and its configuration.
#   docker build -f deploy/ray.Dockerfile -t registry.example/figure_kedro_ray:1 .
# Ray and Python must be the same on all machines: the versions are those of constraints.txt and of Ray's image.
FROM rayproject/ray:2.60.0-py312-cpu
ARG TORCH_INDEX=""
WORKDIR /home/ray/project
COPY --chown=ray pyproject.toml README.md LICENSE constraints.txt .telemetry ./
COPY --chown=ray src src
COPY --chown=ray conf conf
RUN pip install --no-cache-dir -c constraints.txt ${TORCH_INDEX:+--extra-index-url "$TORCH_INDEX"} -e '.[ray,s3]'
ENV RAY_USAGE_STATS_ENABLED=0 FIGURE_REMOTE_CACHE=/scratch/figure_kedro
