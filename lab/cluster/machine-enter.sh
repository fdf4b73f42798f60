# machine-enter.sh PROGRAM…: runs a program in the cgroups of the machine. See machine.ts.
if [ -d /sys/fs/cgroup/host ]; then
  echo 0 > /sys/fs/cgroup/host/cgroup.procs
else
  for procs in /sys/fs/cgroup/*/cgroup.procs; do
    [ "$procs" = /sys/fs/cgroup/unified/cgroup.procs ] || echo 0 > "$procs"
  done
fi
exec "$@"
