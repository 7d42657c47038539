#!/usr/bin/env bash
# opencl_root.sh FOLDER RELEASE DRIVER COMMAND…: run a command in the checkout on an OpenCL driver of another release of
# Debian (trixie, forky) or Ubuntu (noble): on rusticl, Mesa's, or on pocl. The release's root is made in FOLDER where it
# is absent (as root; needs mmdebstrap, a mirror of the distribution, and pip's configured index).
# Exit code 77: the root cannot be made here; the last line on standard error says why.
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/steps.sh
. tools/roots.sh
release=$2 driver=$3 root=$1/$2
shift 3

cannot() { say "no root of $release: $*"; exit 77; }

make_root() {
    local python
    rm -rf "$root"
    mkdir -p "$root"
    local from=($(mirror))
    if [ "$release" = noble ]; then
        ubuntu_keyring "$root.gpg" || cannot 'the keys of Ubuntu cannot be fetched'
        from=(--keyring="$root.gpg" --components=main,universe "$UBUNTU")
    fi
    # A mirror may be some days behind: what it has is signed all the same.
    step "making a root of $release in $root" mmdebstrap --variant=minbase \
        --aptopt='Acquire::Check-Valid-Until "false"' \
        --include=python3,mesa-opencl-icd,pocl-opencl-icd,ocl-icd-libopencl1,binutils "$release" "$root" "${from[@]}" ||
        cannot 'mmdebstrap failed'
    python=$(chroot "$root" python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    step "fetching wheels for its Python $python" \
        wheels "$root/packages" "$python" "$(uname -m)" "${engine_packages[@]}" || cannot 'pip failed'
    mkdir -p "$root/vendors/rusticl" "$root/vendors/pocl"
    cp "$root"/etc/OpenCL/vendors/rusticl.icd "$root/vendors/rusticl/"
    cp "$root"/etc/OpenCL/vendors/pocl.icd "$root/vendors/pocl/"
    packages_made >"$root/complete"
}

[ "$(id -u)" = 0 ] || cannot 'it takes root'
command -v mmdebstrap >/dev/null || cannot 'mmdebstrap is not installed'
unshare --mount --pid --fork true 2>/dev/null || cannot 'no namespaces may be made here'
make_once "$root"
[ -d "$root/vendors/$driver" ] || { say "$driver: must be one of $(ls -m "$root/vendors")"; exit 2; }

# GALLIVM_PERF=nopt: boards translate kernels for their GPU; what LLVM would optimise for this CPU takes half of the time.
mkdir -p "$root/src/edged" "$root/src/shared"
exec unshare --mount --pid --fork --kill-child --mount-proc="$root/proc" bash -euc '
    root=$1 driver=$2; shift 2
    mount --bind /dev "$root/dev"
    mount --bind /sys "$root/sys"
    mount -t tmpfs tmpfs "$root/dev/shm"
    mount --bind . "$root/src/edged"
    [ ! -d ../shared ] || mount --bind ../shared "$root/src/shared"
    exec chroot "$root" /usr/bin/env -i PATH=/usr/bin:/bin HOME=/root LANG=C.UTF-8 RUSTICL_ENABLE=llvmpipe \
        GALLIVM_PERF=nopt OCL_ICD_VENDORS="/vendors/$driver" PYTHONPATH=/packages PYTHONPYCACHEPREFIX=/var/cache/python \
        bash -c "cd /src/edged && exec \"\$@\"" -- "$@"
' -- "$root" "$driver" "$@"
