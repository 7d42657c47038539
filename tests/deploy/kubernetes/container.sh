#!/bin/sh
# Runs a command as the kubelet has a container of deploy/kubernetes run: a root that nobody can write, volumes, no
# privileges, a bound of its memory, and processes of its own. The image is this host's root with the tests' Python in
# /opt/edged. Start it by `unshare --mount --propagation private`: every mount goes with the process.
# container.sh FOLDER CHECKOUT PREFIX BASE_PREFIX USER GROUPS BYTES NAME=VALUE… COMMAND…
# FOLDER/mounts: a line for each volume, "FOLDER PLACE ro|rw"; FOLDER/memory-peak gets a line at the end.
set -eu
folder=$1 checkout=$2 prefix=$3 base=$4 user=$5 groups=$6 bytes=$7
shift 7
layer=$folder/layer root=$folder/layer/root group=edged-pod-$$
mkdir -p "$layer"
mount -t tmpfs -o mode=755 edged-pod "$layer"
mkdir -p "$layer/upper" "$layer/work" "$root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$layer/upper,workdir=$layer/work" "$root"

bind() { # SOURCE PLACE ro|rw
    [ -d "$1" ] && mkdir -p "$2" || touch "$2"
    mount --bind "$1" "$2"
    [ "$3" = rw ] || mount -o remount,bind,ro "$2"
}
for home in /root /home /opt; do mount -t tmpfs -o mode=755 none "$root$home"; done
bind "$base" "$root$base" ro
bind "$prefix" "$root/opt/edged" ro
bind "$checkout" "$root/opt/checkout" ro
bind /sys "$root/sys" ro
mount -t tmpfs -o mode=755 none "$root/dev"
for device in null zero full random urandom; do bind "/dev/$device" "$root/dev/$device" rw; done
ln -s /proc/self/fd "$root/dev/fd"
mkdir -m 1777 "$root/dev/shm"
while read -r source place mode; do bind "$source" "$root$place" "$mode"; done <"$folder/mounts"
mount -o remount,ro "$root"

# The bound of its memory, in version 2 or 1 of control groups.
groups_of_control=$layer/cgroup
mkdir "$groups_of_control"
mount -t cgroup2 none "$groups_of_control"
if grep -qw memory "$groups_of_control/cgroup.controllers"; then
    mkdir "$groups_of_control/$group"
    limit=memory.max peak=memory.peak
else
    umount "$groups_of_control"
    mount -t cgroup -o memory none "$groups_of_control"
    mkdir "$groups_of_control/$group"
    limit=memory.limit_in_bytes peak=memory.max_usage_in_bytes
fi
echo "$bytes" >"$groups_of_control/$group/$limit"

# $0: the control group of the processes below; process 1 stays with them, as the pod's own does.
enter='echo $$ >"$0/cgroup.procs"; exec "$@"'
first='mount -t proc proc "$0/proc"; chroot "$@" & wait $!'
status=0
setpriv --pdeathsig KILL sh -c "$enter" "$groups_of_control/$group" unshare --pid --fork --kill-child --mount --propagation private \
    sh -c "$first" "$root" "$root" setpriv --reuid="$user" --regid="$user" --groups="$groups" --no-new-privs \
    --bounding-set=-all --inh-caps=-all env -i "$@" || status=$?
cat "$groups_of_control/$group/$peak" >>"$folder/memory-peak"
rmdir "$groups_of_control/$group" || true
exit "$status"
