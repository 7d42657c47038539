#!/usr/bin/env bash
# Installs what all tests need of Debian 12 or Ubuntu 24.04 and newer, as root or with sudo. A test whose program is
# missing is skipped with the reason, so `make test-all` goes on where this fails.
set -euo pipefail

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

packages=(
    python3-venv git make procps
    pocl-opencl-icd                  # the OpenCL runtime that the tests run on
    gcc libc6-dev                    # the clock that jumps in tests/e2e
    oclgrind                         # runs every kernel once more, watching its memory
    mosquitto nats-server            # an MQTT broker, a NATS server
    prometheus openssl               # promtool, and a server that scrapes over TLS
    systemd systemd-container dbus   # the unit, and a machine to run it in
    apt-utils gnupg binutils         # a signed apt repository, and what the programs inside a package require
    mmdebstrap debian-archive-keyring   # a root of Debian 13, for its OpenCL
    qemu-user-static arch-test       # a root of Debian for arm64, emulated
    binutils-aarch64-linux-gnu       # what its compiler makes of a kernel
    iproute2 iptables                # hosts that are network namespaces, and links between them that fail
    python3-gi gir1.2-gst-rtsp-server-1.0 gstreamer1.0-rtsp
    gstreamer1.0-plugins-base gstreamer1.0-plugins-good gstreamer1.0-plugins-ugly gstreamer1.0-plugins-bad
)
. /etc/os-release
[ "$ID" = ubuntu ] || packages+=(chromium)   # looks at the page of `edged view`; Ubuntu has it as a snap alone
command -v node >/dev/null && command -v npm >/dev/null || packages+=(nodejs npm)

# A package must not start its service here (invoke-rc.d obeys policy-rc.d; 101 means "not allowed").
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
    printf '#!/bin/sh\nexit 101\n' | as_root tee "$policy" >/dev/null
    as_root chmod +x "$policy"
    trap 'as_root rm -f "$policy"' EXIT
fi

as_root apt-get -qq update || { sleep 10; as_root apt-get -qq update; }
as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "${packages[@]}" >/dev/null

# A container has no systemd-binfmt, which would let the kernel run Arm's programs by QEMU.
formats=/proc/sys/fs/binfmt_misc
if ! compgen -G "$formats/qemu-aarch64*" >/dev/null; then
    [ -e "$formats/register" ] || as_root mount -t binfmt_misc binfmt_misc "$formats" || true
    as_root sh -c "cat /usr/lib/binfmt.d/qemu-aarch64*.conf >$formats/register" || true
fi
