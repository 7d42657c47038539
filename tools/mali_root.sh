#!/usr/bin/env bash
# mali_root.sh FOLDER RELEASE: make a root with Mesa's OpenCL for Mali, of a release of Debian (trixie, forky), in
# FOLDER/RELEASE where it is absent (as root; needs mmdebstrap and a mirror of Debian; half a minute, 1.1 GB).
# FOLDER/trixie also has what every release is run with: QEMU, `compile_kernels` (tools/mali) and a library from Mesa's
# own tests, which answers in the place of the GPU's kernel driver.
# Exit code 77: the root cannot be made here; the last line on standard error says why.
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/steps.sh
. tools/roots.sh
folder=$1 release=$2
DRIVER=mesa-opencl-icd:arm64,ocl-icd-libopencl1:arm64
# qemu-user runs programs of arm64; the others compile C for it
TOOLS=base-files,bash,coreutils,sed,tar,xz-utils,qemu-user,gcc-aarch64-linux-gnu,libc6-dev:arm64,libdrm-dev:arm64,ocl-icd-opencl-dev:arm64

cannot() { say "no root of $release: $*"; exit 77; }

# unpack ROOT RELEASE ARCHITECTURES PACKAGES OPTION…: packages that are only unpacked; no program of theirs runs.
unpack() {
    local root=$1 release=$2 architectures=$3 packages=$4 from
    shift 4
    from=$(mirror)
    from=${from:-http://deb.debian.org/debian}
    rm -rf "$root"
    mkdir -p "$root"
    # A mirror may be some days behind: what it has is signed all the same.
    step "making a root of $release with Mesa for Mali in $root" mmdebstrap --variant=extract \
        --architectures="$architectures" --hook-dir=/usr/share/mmdebstrap/hooks/merged-usr \
        --aptopt='Acquire::Check-Valid-Until "false"' --include="$packages" "$@" \
        "$release" "$root" "deb $from $release main" "deb-src $from $release main" || cannot 'mmdebstrap failed'
}

# What is built from Mesa's source package: the library that answers for the kernel driver, and our program.
build() {
    cp tools/mali/compile_kernels.c "$1/src/"
    step 'building what answers for a GPU' chroot "$1" /usr/bin/env -i PATH=/usr/bin:/bin bash -euc '
        cd /src
        for part in include src/c11 src/util src/drm-shim src/panfrost/drm-shim src/broadcom/drm-shim \
            src/freedreno/drm-shim; do parts+=("*/$part"); done
        tar --extract --strip-components=1 --no-same-owner --wildcards --file mesa_*.orig.tar.xz "${parts[@]}"
        # newer drivers ask for more than it knows: a GPU without what that is about answers 0
        sed -i "/Unknown DRM_IOCTL_PANFROST_GET_PARAM/,/return -1/ s/return -1/return gp->value = 0/" \
            src/panfrost/drm-shim/panfrost_noop.c
        for name in anon_file hash_table os_misc ralloc set simple_mtx u_call_once u_debug vma; do
            utilities+=("src/util/$name.c")
        done
        for name in DLFCN_H ENDIAN_H MEMFD_CREATE PTHREAD SECURE_GETENV STRUCT_TIMESPEC TIMESPEC_GET __BUILTIN_FFS; do
            has+=("-DHAVE_$name")
        done
        # it knows VideoCore VI alone; VII names itself otherwise
        sed -i "s/0x04443356/IDENT0/; s/0x81001422/IDENT1/" src/broadcom/drm-shim/v3d_noop.c
        # answers NAME FOLDER SOURCE OPTION…: the library that answers for the GPUs of a driver
        answers() {
            aarch64-linux-gnu-gcc -O1 -w -shared -fPIC -fvisibility=hidden -ffunction-sections -D_GNU_SOURCE "${has[@]}" \
                -DUTIL_ARCH_LITTLE_ENDIAN=1 -DUTIL_ARCH_BIG_ENDIAN=0 -Iinclude -Isrc -Isrc/util -I/usr/include/libdrm \
                src/drm-shim/*.c "src/$2/drm-shim/$3" src/c11/impl/threads_posix.c "${utilities[@]}" "${@:4}" \
                -Wl,--gc-sections -Wl,--no-undefined -o "/usr/lib/aarch64-linux-gnu/libno_$1.so"
        }
        answers panfrost panfrost panfrost_noop.c
        answers v3d42 broadcom v3d_noop.c -DIDENT0=0x04443356 -DIDENT1=0x81001422
        answers v3d71 broadcom v3d_noop.c -DIDENT0=0x07443356 -DIDENT1=0x81001431
        answers freedreno freedreno freedreno_noop.c
        aarch64-linux-gnu-gcc -O1 -Wall -Werror compile_kernels.c -lOpenCL -o /usr/bin/compile_kernels
    ' || cannot 'the answers for a GPU cannot be built'
    rm -rf "$1/src"
}

# The source package comes by the same signed lists as the packages.
SOURCE='mkdir "$1/src"; cd "$1/src"; APT_CONFIG=$MMDEBSTRAP_APT_CONFIG apt-get source --download-only mesa'

make_root() {
    [ "$(id -u)" = 0 ] || cannot 'it takes root'
    command -v mmdebstrap >/dev/null || cannot 'mmdebstrap is not installed'
    local own
    own=$(dpkg --print-architecture)
    if [ "$root" = "$folder/trixie" ]; then
        [ "$own" = arm64 ] || own+=,arm64
        unpack "$root" trixie "$own" "$DRIVER,$TOOLS" --extract-hook="$SOURCE"
        build "$root"
    else
        unpack "$root" "$release" arm64 "$DRIVER"
    fi
    packages_made >"$root/complete"
}

# A root is complete if it was made by this script and has this program.
packages_made() { sha256sum tools/mali_root.sh tools/mali/compile_kernels.c | cut -d ' ' -f 1; }

for root in "$folder/trixie" "$folder/$release"; do make_once "$root"; done
