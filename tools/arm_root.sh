#!/usr/bin/env bash
# arm_root.sh FOLDER FEATURES COMMAND…: run a command in the checkout on an emulated Arm processor (QEMU) with PoCL, in a
# root of Debian 12 for arm64 that is made in FOLDER where it is absent (as root; needs mmdebstrap, arch-test,
# qemu-user-static, a mirror of Debian, and pip's configured index). FEATURES: what /proc/cpuinfo says that the processor
# has, "asimddp i8mm"; QEMU_CPU chooses a processor.
# Exit code 77: that cannot be here; the last line on standard error says why.
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/steps.sh
. tools/roots.sh
root=$1/root features=$2
shift 2

cannot() { say "no Arm emulation: $*"; exit 77; }

make_root() {
    rm -rf "$root"
    mkdir -p "$root"
    unpack_arm64 "$root" || cannot 'mmdebstrap failed'
    step 'fetching wheels for its Python 3.11' wheels "$root/packages" 3.11 aarch64 "${engine_packages[@]}" ||
        cannot 'pip failed'
    packages_made >"$root/complete"
}

[ "$(id -u)" = 0 ] || cannot 'it takes root'
command -v mmdebstrap arch-test >/dev/null || cannot 'mmdebstrap or arch-test is not installed'
compgen -G '/proc/sys/fs/binfmt_misc/qemu-aarch64*' >/dev/null || cannot 'no qemu-aarch64 in binfmt_misc'
unshare --mount --pid --fork true 2>/dev/null || cannot 'no namespaces may be made here'
make_once "$root"

mkdir -p "$root/src/edged" "$root/src/shared" "$root/sys"
exec unshare --mount --pid --fork --kill-child --mount-proc="$root/proc" bash -euc '
    root=$1 features=$2; shift 2
    mount --bind /sys "$root/sys"
    mount --bind /dev "$root/dev"
    for empty in dev/shm root tmp; do mount -t tmpfs tmpfs "$root/$empty"; done
    printf "processor\t: 0\nFeatures\t: fp asimd %s\n" "$features" >"$root/tmp/cpuinfo"   # of this command alone
    mount --bind "$root/tmp/cpuinfo" "$root/proc/cpuinfo"
    mount --bind . "$root/src/edged"
    [ ! -d ../shared ] || mount --bind ../shared "$root/src/shared"
    exec chroot "$root" /usr/bin/env -i PATH=/usr/bin:/bin HOME=/root LANG=C.UTF-8 ${QEMU_CPU:+QEMU_CPU=$QEMU_CPU} \
        PYTHONPATH=/packages PYTHONPYCACHEPREFIX=/var/cache/python bash -c "cd /src/edged && exec \"\$@\"" -- "$@"
' -- "$root" "$features" "$@"
