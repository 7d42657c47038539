#!/usr/bin/env bash
# install_locked.sh VENV WORDS LOCKS ARGUMENTS…: installs requirements/LOCK.lock of each lock, by hash, and prints the
# words. With LOCK=no, or a Python newer than the locks, it installs the arguments in their place, in the versions that the
# index has now.
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/steps.sh
venv=$1 words=$2 locks=$3
shift 3
if ! is_locked "$venv"; then
    exec tools/pip_install.sh "$venv" "$words" "$@"
fi
files=()
for lock in $locks; do files+=(--requirement "requirements/$lock.lock"); done
tools/pip_install.sh "$venv" "$words" --require-hashes "${files[@]}" && exit
say "requirements/*.lock could not be installed, see above; if it does not match: make lock renews it, LOCK=no installs without it"
exit 1
