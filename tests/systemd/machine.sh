#!/bin/sh
# Boots this host's own root as a container with systemd as PID 1, over a throw-away layer, without a network.
# Start it by `unshare --mount --propagation private`: every mount goes with the process.
# machine.sh FOLDER UNIT OPTION…: FOLDER holds stage/, which is laid over the root; UNIT is what it boots; the options
# are those of systemd-nspawn.
set -eu
folder=$1 unit=$2
shift 2
layer=$folder/layer
mkdir -p "$layer"
mount -t tmpfs -o mode=755 edged-test "$layer"
mkdir -p "$layer/upper/var/log/journal" "$layer/work" "$layer/root"
cp -r "$folder/stage/." "$layer/upper/"
mount -t overlay overlay -o "lowerdir=/,upperdir=$layer/upper,workdir=$layer/work" "$layer/root"
# A bare chroot may have /sys without control groups.
[ -n "$(ls /sys/fs/cgroup)" ] || mount -t cgroup2 none /sys/fs/cgroup
exec systemd-nspawn --quiet --directory="$layer/root" --machine="edged-test-$$" --register=no --keep-unit --private-network \
    --console=pipe --boot "$@" "systemd.unit=$unit" systemd.log_level=warning </dev/null
