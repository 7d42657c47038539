#!/bin/sh
# Boots this host's own root as a container with systemd as PID 1, over a throw-away layer; runs tests/systemd/inside
# there. Start it by `unshare --mount --propagation private`: every mount goes with the process.
# machine.sh CHECKOUT PYTHON_PREFIX FOLDER: FOLDER holds stage/ (laid over the root) and results/ (what is printed).
set -eu
checkout=$1 prefix=$2 folder=$3
layer=$folder/layer
mkdir -p "$layer"
mount -t tmpfs -o mode=755 edged-test "$layer"
mkdir -p "$layer/upper/etc/systemd/system" "$layer/upper/etc/sysusers.d" "$layer/upper/opt/edged" \
    "$layer/upper/opt/checkout" "$layer/upper/opt/results" "$layer/upper/var/log/journal" "$layer/work" "$layer/root"
cp -r "$folder/stage/." "$layer/upper/"
mount -t overlay overlay -o "lowerdir=/,upperdir=$layer/upper,workdir=$layer/work" "$layer/root"
# A bare chroot may have /sys without control groups.
[ -n "$(ls /sys/fs/cgroup)" ] || mount -t cgroup2 none /sys/fs/cgroup
exec systemd-nspawn --quiet --directory="$layer/root" --machine="edged-test-$$" --register=no --keep-unit --private-network \
    --bind-ro="$checkout:/opt/checkout" --bind-ro="$prefix:/opt/edged" --bind="$folder/results:/opt/results" \
    --console=pipe --boot systemd.unit=edged-test.service systemd.log_level=warning </dev/null
