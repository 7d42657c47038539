#!/usr/bin/env bash
# pip_install.sh VENV WORDS ARGUMENTS…: installs into a virtual environment by pip, and prints these words.
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/steps.sh
step "installing $2 into $1" "$1/bin/python" -m pip install --progress-bar off "${@:3}"
