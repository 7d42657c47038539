#!/usr/bin/env bash
# Installs edged as a system service: a virtual environment, the unit, its user, udev rules and a first config.
# PREFIX: where edged goes (/opt/edged); DESTDIR: a root to install into without touching the running system.
set -euo pipefail
cd "$(dirname "$0")/.."
prefix=${PREFIX:-/opt/edged}
root=${DESTDIR:-}

${PYTHON:-python3} -m venv "$root$prefix"
"$root$prefix/bin/python" -m pip install --quiet --upgrade '.[completion,mqtt,nats,view]'
sed -i "1s,^#!$root,#!," "$root$prefix/bin/edged"  # where it will be, not where it is put together
install -d "$root/usr/local/bin"
ln -sfn "$prefix/bin/edged" "$root/usr/local/bin/edged"
PYTHON=$root$prefix/bin/python tools/install_files.sh "$root" "$prefix" /etc
[ -z "$root" ] || exit 0
systemd-sysusers edged.conf
systemd-tmpfiles --create edged.conf
[ ! -d /run/udev ] || { udevadm control --reload; udevadm trigger --subsystem-match=video4linux --subsystem-match=drm; }
[ ! -d /run/systemd/system ] || systemctl daemon-reload
echo "edged: installed. Edit /etc/edged/edged.yaml, then: systemctl enable --now edged" >&2
