#!/usr/bin/env bash
# Installs what edged is compared with into the virtual environment that is named, one by one: what cannot be had on
# this machine is said here, and again in the table of `make bench-peers`.
set -euo pipefail
cd "$(dirname "$0")/.."
venv=$1

say() { printf 'edged: %s\n' "$*" >&2; }

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

grep -v '^#' bench/peers/requirements.txt | while read -r package; do
    say "installing $package into $venv"
    "$venv/bin/python" -m pip install --quiet "$package" </dev/null || say "warning: $package could not be installed"
done

compgen -G '/usr/lib/*/libclblast.so.1' >/dev/null && exit
say 'installing CLBlast with apt-get (libclblast1)'
as_root apt-get -qq update || true
as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends libclblast1 >/dev/null ||
    say 'warning: CLBlast could not be installed'
