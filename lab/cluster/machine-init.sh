# The first process of a machine: machine-init.sh DIRECTORY CGROUP… See machine.ts.
# Runs with mounts, process ids and cgroups of its own, already in its network namespace.
set -e
directory=$1
shift
mkdir -p "$directory/lib" "$directory/log" "$directory/kernel"
# The host's namespaces would be hidden below, and container runtimes read of every mount.
if [ -d /run/netns ]; then umount --recursive --lazy /run/netns 2> /dev/null || :; fi
mount -t tmpfs -o mode=755 tmpfs /run
# As systemd has it: containers may see what is mounted later, such as the namespaces of pods.
mount --make-shared /run
mount --bind "$directory/lib" /var/lib
mount --bind "$directory/log" /var/log
if [ -f /sys/fs/cgroup/cgroup.controllers ]; then
  mount -t cgroup2 cgroup2 /sys/fs/cgroup
  # A cgroup with processes cannot have children with controllers.
  mkdir /sys/fs/cgroup/host
  echo 0 > /sys/fs/cgroup/host/cgroup.procs
  for controller in $(cat /sys/fs/cgroup/cgroup.controllers); do echo "+$controller" > /sys/fs/cgroup/cgroup.subtree_control; done
else
  for folder in "$@"; do
    controller=${folder#/sys/fs/cgroup/}
    mount --bind "$folder" "/sys/fs/cgroup/${controller%%/*}"
  done
fi
# kubelet sets these for the whole kernel, which is the host's: it gets files instead.
for parameter in vm/overcommit_memory vm/panic_on_oom kernel/panic kernel/panic_on_oops kernel/keys/root_maxkeys kernel/keys/root_maxbytes; do
  [ -f "/proc/sys/$parameter" ] || continue
  file="$directory/kernel/$(echo "$parameter" | tr / .)"
  cat "/proc/sys/$parameter" > "$file"
  mount --bind "$file" "/proc/sys/$parameter"
done
touch "$directory/ready"
# As the first process, the shell waits for all whose parents are gone.
while :; do sleep 3600; done
