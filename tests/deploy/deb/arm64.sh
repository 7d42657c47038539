#!/usr/bin/env bash
# arm64.sh FOLDER PACKAGE PICTURES COMMAND: unpack a package for arm64 over a root of Debian 12, and run a command
# there, without a network, each program emulated by QEMU; the folder PICTURES is /pictures there. The package is not
# configured: its scripts are the same on each processor, and tests/deploy/deb/test_machine.py runs them. The root is
# made in FOLDER where it is absent (as root; needs mmdebstrap, arch-test, qemu-user-static and a mirror of Debian), and
# is never changed.
# Exit code 77: that cannot be here; the last line on standard error says why.
set -euo pipefail
cd "$(dirname "$0")/../../.."
. tools/steps.sh
. tools/roots.sh
root=$1/root package=$2 pictures=$3 command=$4
formats=/proc/sys/fs/binfmt_misc

cannot() { say "no Arm emulation: $*"; exit 77; }

make_root() {
    rm -rf "$root"
    mkdir -p "$root"
    unpack_arm64 "$root" || cannot 'mmdebstrap failed'
    touch "$root/complete"
}

[ "$(id -u)" = 0 ] || cannot 'it takes root'
command -v mmdebstrap arch-test >/dev/null || cannot 'mmdebstrap or arch-test is not installed'
compgen -G "$formats/qemu-aarch64*" >/dev/null || cannot "no qemu-aarch64 in $formats: install qemu-user-static"
unshare --mount --pid --net --fork true 2>/dev/null || cannot 'no namespaces may be made here'
[ -e "$root/complete" ] || make_root

exec unshare --mount --pid --net --fork --kill-child bash -euc '
    root=$1 package=$2 pictures=$3 command=$4
    mount -t tmpfs tmpfs /mnt
    mkdir /mnt/upper /mnt/work /mnt/root
    mount -t overlay overlay -o "lowerdir=$root,upperdir=/mnt/upper,workdir=/mnt/work" /mnt/root
    mount -t proc proc /mnt/root/proc
    mkdir -p /mnt/root/sys
    mount --bind /sys /mnt/root/sys
    mount --bind /dev /mnt/root/dev
    mkdir /mnt/root/pictures
    mount --bind "$pictures" /mnt/root/pictures
    ip link set lo up
    dpkg-deb --extract "$package" /mnt/root
    exec chroot /mnt/root /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
        bash -euc "$command"
' -- "$root" "$package" "$pictures" "$command"
