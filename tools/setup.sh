#!/usr/bin/env bash
# Sets up what `make run` and `make test` need: .venv (or the folder that is named) with edged in it, and an OpenCL
# runtime where there is none.
# Says what it does before it does it. Started again, it only does what is missing. LOCK=no: see tools/install_locked.sh.
set -euo pipefail
cd "$(dirname "$0")/.."
venv=${1:-.venv}
. tools/steps.sh

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

# Installs Debian or Ubuntu packages; fails, with one line said, where that cannot be.
apt_install() {
    command -v apt-get >/dev/null || { say "this is no Debian or Ubuntu: install $* yourself"; return 1; }
    [ "$(id -u)" = 0 ] || command -v sudo >/dev/null || { say "no sudo here: as root, apt-get install $*"; return 1; }
    as_root apt-get -qq update || as_root apt-get -qq update || say "apt-get update failed; trying what is known"
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "$@" >/dev/null
}

is_new_enough() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

find_python() {
    local candidate
    for candidate in ${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11}; do
        if is_new_enough "$candidate"; then command -v "$candidate"; return; fi
    done
    return 1
}

# A minimal Debian has no Python at all.
find_or_install_python() {
    find_python && return
    if [ -z "${PYTHON:-}" ]; then
        say "no Python 3.11 or newer was found: installing python3 with apt-get"
        apt_install python3 python3-venv && find_python && return
    fi
    say "Python 3.11 or newer is required and was not found; set PYTHON=… if it has another name"
    return 1
}

make_venv() {
    local python package
    python=$(find_or_install_python)
    if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
        package=$("$python" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')
        say "$python cannot make virtual environments: installing $package with apt-get"
        apt_install "$package"
    fi
    step "making $venv with $python" "$python" -m venv --clear "$venv"
}

# What installs edged is locked too: hatchling, and pip, of which 25.1 is the first that knows dependency groups.
install_edged() {
    local missing
    if ! is_locked "$venv"; then
        tools/pip_install.sh "$venv" 'a pip that knows dependency groups' --upgrade 'pip>=25.1'
        tools/pip_install.sh "$venv" 'edged and the Python packages it needs (about 300 MB)' --editable .
        return
    fi
    tools/install_locked.sh "$venv" 'the Python packages that edged needs (about 300 MB)' 'run build'
    tools/pip_install.sh "$venv" 'edged' --no-build-isolation --no-deps --editable .
    missing=$("$venv/bin/python" -m pip check) ||
        say "warning: requirements/*.lock does not match pyproject.toml (${missing%%$'\n'*}): make lock renews it"
}

has_opencl() {
    [ -n "${OCL_ICD_VENDORS:-}" ] || compgen -G '/etc/OpenCL/vendors/*.icd' >/dev/null
}

install_opencl() {
    say "no OpenCL runtime found in /etc/OpenCL/vendors: installing PoCL, which runs on the CPU (pocl-opencl-icd)"
    apt_install pocl-opencl-icd && return
    say "warning: PoCL could not be installed; edged will use its NumPy device, which is slow"
}

[ -x "$venv/bin/python" ] && is_new_enough "$venv/bin/python" || make_venv
install_edged
has_opencl || install_opencl
touch "$venv/.installed"
