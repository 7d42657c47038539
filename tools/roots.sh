# What scripts share that make a root of Debian and run something there.

# The mirror of this host where it is Debian's, else Debian's own.
mirror() {
    . /etc/os-release
    [ "$ID" != debian ] || apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | head -n 1
}

UBUNTU=http://archive.ubuntu.com/ubuntu
UBUNTU_KEYS=ubuntu-archive-keyring.gpg
UBUNTU_KEYS_SHA256=80a36b0a6de2f69f49d2df75ef473ccde121e9e190b9ea01d20a4f63778d5c31

# ubuntu_keyring FILE: the keys of Ubuntu's archive. Debian 12 has no package of them; those of Ubuntu's own package are
# compared with their hash.
ubuntu_keyring() {
    local file=$1 folder
    [ ! -e "/usr/share/keyrings/$UBUNTU_KEYS" ] || { cp "/usr/share/keyrings/$UBUNTU_KEYS" "$file"; return; }
    folder=$(mktemp --directory)
    python3 - "$UBUNTU/pool/main/u/ubuntu-keyring/ubuntu-keyring_2023.11.28.1_all.deb" "$folder/keys.deb" <<'EOF' &&
import sys, urllib.request
with urllib.request.urlopen(sys.argv[1], timeout=30) as answer, open(sys.argv[2], "wb") as file:
    file.write(answer.read())
EOF
        dpkg-deb --extract "$folder/keys.deb" "$folder" &&
        echo "$UBUNTU_KEYS_SHA256  $folder/usr/share/keyrings/$UBUNTU_KEYS" | sha256sum --check --quiet &&
        mv "$folder/usr/share/keyrings/$UBUNTU_KEYS" "$file" || { rm -rf "$folder"; return 1; }
    rm -rf "$folder"
}

# wheels FOLDER PYTHON ARCH PACKAGE…: packages for that version of Python and that processor, by this host's pip, so that
# the root needs no network, index or certificates.
wheels() {
    local folder=$1 python=$2 arch=$3 platforms=() tag
    shift 3
    for tag in manylinux_2_28 manylinux_2_27 manylinux_2_17 manylinux2014 manylinux_2_12; do
        platforms+=(--platform "${tag}_$arch")
    done
    "${PYTHON:-.venv/bin/python}" -m pip install --quiet --target "$folder" --python-version "$python" \
        --implementation cp --only-binary=:all: "${platforms[@]}" "$@"
}

# unpack_arm64 ROOT: Debian 12 for arm64 with Python and PoCL. Its packages are only unpacked: to configure them, emulated,
# takes minutes.
unpack_arm64() {
    step "making a root of Debian 12 for arm64 in $1" mmdebstrap --architectures=arm64 --variant=extract \
        --hook-dir=/usr/share/mmdebstrap/hooks/merged-usr \
        --include=base-files,bash,coreutils,python3,pocl-opencl-icd,ocl-icd-libopencl1 bookworm "$1" $(mirror)
}

# What the tests of the engine need.
engine_packages=(numpy msgspec onnx opencv-python-headless prometheus-client pydantic pyopencl PyYAML pyzmq
    pytest pytest-xdist hypothesis psutil onnxruntime jsonschema)

# A root is complete if it has these packages: one that was kept may lack a new one.
packages_made() { printf '%s\n' "${engine_packages[@]}"; }
is_complete() { packages_made | cmp --silent - "$1/complete" 2>/dev/null; }

# make_once FOLDER: call make_root unless the root is complete; of several processes one makes it, the others wait.
make_once() {
    mkdir -p "$(dirname "$1")"
    (
        flock 9
        is_complete "$1" || make_root
    ) 9>"$1.lock"
}
