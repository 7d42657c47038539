# What scripts share that make a root of Debian and run something there.

# The mirror of this host where it is Debian's, else Debian's own.
mirror() {
    . /etc/os-release
    [ "$ID" != debian ] || apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | head -n 1
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

# What the tests of the engine need.
engine_packages=(numpy msgspec onnx opencv-python-headless prometheus-client pydantic pyopencl PyYAML pyzmq
    pytest pytest-xdist hypothesis psutil onnxruntime jsonschema)

# A root is complete if it has these packages: one that was kept may lack a new one.
packages_made() { printf '%s\n' "${engine_packages[@]}"; }
is_complete() { packages_made | cmp --silent - "$1/complete" 2>/dev/null; }
