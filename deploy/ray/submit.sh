#!/usr/bin/env bash
# Submits an archive to a Ray cluster as a job, which goes on when this terminal is closed:
#   deploy/ray/submit.sh /mnt/models/net.onnx --input /mnt/archive --output /mnt/answers
# RAY_API_SERVER_ADDRESS: of the cluster's head (default: this host); RAY: the command; EDGED: that of the head.
# Submitted again with the same arguments, it goes on where a failed job has stopped.
set -euo pipefail
export RAY_API_SERVER_ADDRESS=${RAY_API_SERVER_ADDRESS:-http://127.0.0.1:8265}
exec "${RAY:-/opt/edged/bin/ray}" job submit --no-wait -- "${EDGED:-/opt/edged/bin/edged}" batch "$@" --ray auto
