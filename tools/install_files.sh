#!/usr/bin/env bash
# install_files.sh ROOT PREFIX SYSTEM: installs below ROOT everything of the service but its virtual environment, which
# will be PREFIX: the units and their users, permissions, completions, a first config. SYSTEM: where they go, /etc for a
# local installation, /usr/lib for a package. PYTHON: one that has edged with its extra `completion`.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$1 prefix=$2 system=$3

put() { install -D -m 644 "$1" "$root$2"; }

put edged/edged.schema.json "$prefix/share/edged/edged.schema.json"
put docs/how-to/service.md "$prefix/share/doc/edged/service.md"
put systemd/edged.service.d/writable-executable-memory.conf "$prefix/share/edged/writable-executable-memory.conf"
for unit in systemd/*.service; do
    sed "s,/opt/edged,$prefix,g" "$unit" | install -D -m 644 /dev/stdin "$root$system/systemd/system/${unit##*/}"
done
completion() { "$PYTHON" -m edged completion "$1" | install -D -m 644 /dev/stdin "$root$2"; }
completion bash /usr/share/bash-completion/completions/edged
completion zsh /usr/share/zsh/vendor-completions/_edged
completion fish /usr/share/fish/vendor_completions.d/edged.fish
put systemd/sysusers.conf "$system/sysusers.d/edged.conf"
put systemd/tmpfiles.conf "$system/tmpfiles.d/edged.conf"
put systemd/70-edged.rules "$system/udev/rules.d/70-edged.rules"
[ -e "$root/etc/edged/edged.yaml" ] ||
    sed "1s,=.*,=$prefix/share/edged/edged.schema.json," configs/demo.yaml |
    install -D -m 644 /dev/stdin "$root/etc/edged/edged.yaml"
