#!/usr/bin/env bash
# rusticl_root.sh FOLDER COMMAND…: run a command in the checkout on Mesa's OpenCL, rusticl, in a root of Debian 13 that
# is made in FOLDER where it is absent (as root; needs mmdebstrap, a mirror of Debian, and pip's configured index).
# Exit code 77: the root cannot be made here; the last line on standard error says why.
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/steps.sh
root=$1/root packages=(numpy msgspec onnx opencv-python-headless prometheus-client pydantic pyopencl PyYAML pyzmq
    pytest pytest-xdist hypothesis psutil onnxruntime jsonschema)
shift

cannot() { say "no rusticl: $*"; exit 77; }

# The mirror of this host where it is Debian's, else Debian's own.
mirror() {
    . /etc/os-release
    [ "$ID" != debian ] || apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | head -n 1
}

# Wheels come by this host's pip, so that the root needs no network, index or certificates.
make_root() {
    local arch
    arch=$(uname -m)
    rm -rf "$root"
    mkdir -p "$root"
    step "making a root of Debian 13 in $root" mmdebstrap --variant=minbase \
        --include=python3,mesa-opencl-icd,ocl-icd-libopencl1 trixie "$root" $(mirror) ||
        cannot 'mmdebstrap failed'
    step 'fetching wheels for its Python 3.13' "${PYTHON:-.venv/bin/python}" -m pip install --quiet \
        --target "$root/packages" --python-version 3.13 --implementation cp --only-binary=:all: \
        --platform "manylinux_2_28_$arch" --platform "manylinux_2_27_$arch" --platform "manylinux_2_17_$arch" \
        --platform "manylinux2014_$arch" --platform "manylinux_2_12_$arch" "${packages[@]}" || cannot 'pip failed'
    touch "$root/complete"
}

[ "$(id -u)" = 0 ] || cannot 'it takes root'
command -v mmdebstrap >/dev/null || cannot 'mmdebstrap is not installed'
unshare --mount --pid --fork true 2>/dev/null || cannot 'no namespaces may be made here'
[ -e "$root/complete" ] || make_root

mkdir -p "$root/src/edged" "$root/src/shared"
exec unshare --mount --pid --fork --mount-proc="$root/proc" bash -euc '
    root=$1; shift
    mount --bind /dev "$root/dev"
    mount -t tmpfs tmpfs "$root/dev/shm"
    mount --bind . "$root/src/edged"
    [ ! -d ../shared ] || mount --bind ../shared "$root/src/shared"
    exec chroot "$root" /usr/bin/env -i PATH=/usr/bin:/bin HOME=/root LANG=C.UTF-8 RUSTICL_ENABLE=llvmpipe \
        PYTHONPATH=/packages PYTHONDONTWRITEBYTECODE=1 bash -c "cd /src/edged && exec \"\$@\"" -- "$@"
' -- "$root" "$@"
