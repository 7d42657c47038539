#!/usr/bin/env bash
# Installs edged as a system service: a virtual environment, the unit, its user, udev rules and a first config.
# PREFIX: where edged goes (/opt/edged); DESTDIR: a root to install into without touching the running system.
set -euo pipefail
cd "$(dirname "$0")/.."
prefix=${PREFIX:-/opt/edged}
root=${DESTDIR:-}

put() { install -D -m 644 "$1" "$root$2"; }

${PYTHON:-python3} -m venv "$root$prefix"
"$root$prefix/bin/python" -m pip install --quiet --upgrade '.[completion,mqtt,nats]'
sed -i "1s,^#!$root,#!," "$root$prefix/bin/edged"  # where it will be, not where it is put together
install -d "$root/usr/local/bin"
ln -sfn "$prefix/bin/edged" "$root/usr/local/bin/edged"
put edged/edged.schema.json "$prefix/share/edged/edged.schema.json"
put docs/how-to/service.md "$prefix/share/doc/edged/service.md"
for unit in edged.service edged-worker.service edged-camera@.service edged-bridge@.service edged-fleet.service; do
    sed "s,/opt/edged,$prefix,g" "systemd/$unit" | install -D -m 644 /dev/stdin "$root/etc/systemd/system/$unit"
done
completion() { "$root$prefix/bin/python" -m edged completion "$1" | install -D -m 644 /dev/stdin "$root$2"; }
completion bash /usr/share/bash-completion/completions/edged
completion zsh /usr/share/zsh/vendor-completions/_edged
completion fish /usr/share/fish/vendor_completions.d/edged.fish
put systemd/sysusers.conf /etc/sysusers.d/edged.conf
put systemd/tmpfiles.conf /etc/tmpfiles.d/edged.conf
put systemd/70-edged.rules /etc/udev/rules.d/70-edged.rules
[ -e "$root/etc/edged/edged.yaml" ] ||
    sed "1s,=.*,=$prefix/share/edged/edged.schema.json," configs/demo.yaml |
    install -D -m 644 /dev/stdin "$root/etc/edged/edged.yaml"
[ -z "$root" ] || exit 0
systemd-sysusers edged.conf
systemd-tmpfiles --create edged.conf
[ ! -d /run/udev ] || { udevadm control --reload; udevadm trigger --subsystem-match=video4linux --subsystem-match=drm; }
[ ! -d /run/systemd/system ] || systemctl daemon-reload
echo "edged: installed. Edit /etc/edged/edged.yaml, then: systemctl enable --now edged" >&2
