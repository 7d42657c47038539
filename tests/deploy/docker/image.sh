#!/usr/bin/env bash
# image.sh FOLDER SCRIPT CONTEXT: run the steps of an image in roots of Debian 12, as `docker build` would, then what the
# script does with it. The base is made in FOLDER where it is absent (as root; needs mmdebstrap and a mirror of Debian)
# and is never changed. SCRIPT, in bash, has for each instruction a function: stage NAME, run COMMAND, copy SOURCE PLACE,
# copy_from STAGE SOURCE PLACE; then close_root, after which nobody can write it, and start USER COMMAND.
# Exit code 77: that cannot be here; the last line on standard error says why.
set -euo pipefail
cd "$(dirname "$0")/../../.."
. tools/steps.sh
base=$1/bookworm script=$2 context=$3

cannot() { say "no root of bookworm: $*"; exit 77; }

mirror() {
    . /etc/os-release
    [ "$ID" != debian ] || apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | head -n 1
}

[ "$(id -u)" = 0 ] || cannot 'it takes root'
command -v mmdebstrap >/dev/null || cannot 'mmdebstrap is not installed'
unshare --mount --pid --fork true 2>/dev/null || cannot 'no namespaces may be made here'
if [ ! -e "$base/complete" ]; then
    rm -rf "$base"
    mkdir -p "$base"
    step "making a root of Debian 12 in $base" mmdebstrap --variant=minbase --include=ca-certificates bookworm \
        "$base" $(mirror) || cannot 'mmdebstrap failed'
    touch "$base/complete"
fi

exec unshare --mount --pid --fork --mount-proc bash -euc '
    base=$1 script=$2 context=$3
    pip=$(env | grep ^PIP_ || true)
    stage() {
        root=/mnt/$1/root
        mkdir -p "/mnt/$1/upper" "/mnt/$1/work" "$root"
        mount -t overlay overlay -o "lowerdir=$base,upperdir=/mnt/$1/upper,workdir=/mnt/$1/work" "$root"
        mount -t proc proc "$root/proc"
        mount --rbind /sys "$root/sys"
        mount --rbind /dev "$root/dev"
        for each in /etc/resolv.conf /etc/ssl/certs /etc/pip.conf; do # the network, and the index of this host
            [ -d "$each" ] && mkdir -p "$root$each" || touch "$root$each"
            [ ! -e "$each" ] || mount --bind "$each" "$root$each"
        done
    }
    run() { chroot "$root" /usr/bin/env -i $pip PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive sh -c "$1" >&2; }
    copy() { mkdir -p "$root$2" && cp -a "$context/$1/." "$root$2"; }
    copy_from() { mkdir -p "$root$3" && cp -a "/mnt/$1/root$2/." "$root$3"; }
    close_root() {
        mount -t tmpfs -o mode=1777 none "$root/tmp"
        for each in $volumes; do mount --bind "$root$each" "$root$each"; done
        mount -o remount,ro,bind "$root"
    }
    start() {
        user=$1; shift
        chroot --userspec="$user" "$root" /usr/bin/env -i PATH=/usr/bin:/bin $environment "$@"
    }
    mount -t tmpfs none /mnt
    ip link set lo up 2>/dev/null || true
    . "$script"
' -- "$base" "$script" "$context"
