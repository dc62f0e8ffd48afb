#!/bin/bash
# The namespaces of a Kubernetes node. In the environment: RUN, the node's folder; CGROUP, the name of its cgroup; NODE_NAME, NODE_ADDRESS, SERVICES.
#   node.sh start       makes them; their first process creates RUN/started, and they end with this process
#   node.sh enter PID COMMAND…     runs a command in those of process PID
#   node.sh network PID COMMAND…   runs a command of the machine in the network of process PID, with the node's share of time
# /var and /run are replaced inside, so that containerd and the kubelet use their usual paths and leave nothing behind.
set -euo pipefail

join_cgroups() {
  for folder in $(awk '$3 == "cgroup" { print $2 }' /proc/mounts); do
    mkdir -p "$folder/$CGROUP"
    # A new cpuset has no processor, and takes no process before it has one.
    for file in cpuset.cpus cpuset.mems; do
      [ ! -e "$folder/$file" ] || cat "$folder/$file" >"$folder/$CGROUP/$file"
    done
    # Else all of the node together would get as much time as one other busy process.
    [ ! -e "$folder/cpu.shares" ] || echo 32768 >"$folder/$CGROUP/cpu.shares"
    echo $$ >"$folder/$CGROUP/cgroup.procs"
  done
}

mount_all() {
  mount --make-rshared /   # the kubelet propagates mounts to containers; nothing of them reaches the machine
  mount -t proc proc /proc
  mount -t tmpfs tmpfs /run
  mkdir -p "$RUN"/var/{lib/containerd,lib/etcd,log,tmp} /run/netns /run/lock
  mount --bind "$RUN/var" /var
  mount -t tmpfs tmpfs /var/lib/containerd
  mount -t tmpfs tmpfs /var/lib/etcd
  # The kubelet sets these for the whole machine unless they read as it wants.
  for tunable in vm/overcommit_memory=1 vm/panic_on_oom=0 kernel/panic=10 kernel/panic_on_oops=1; do
    file=/run/$(basename "${tunable%=*}")
    echo "${tunable#*=}" >"$file"
    mount --bind "$file" "/proc/sys/${tunable%=*}"
  done
  # Mounted again, so that the root of each is the node's own cgroup.
  controllers=$(awk '$3 == "cgroup" { sub(".*/", "", $2); print $2 }' /proc/mounts)
  umount -R /sys/fs/cgroup
  mount -t tmpfs -o mode=755 tmpfs /sys/fs/cgroup
  for controller in $controllers; do
    [ "$controller" != systemd ] || continue
    mkdir -p "/sys/fs/cgroup/$controller"
    mount -t cgroup -o "$controller" cgroup "/sys/fs/cgroup/$controller"
  done
}

# A bridge without ports is the node's interface. There is no way out.
start_network() {
  ip link set lo up
  ip link add node0 type bridge
  case $NODE_ADDRESS in
  # Without a neighbour that could have the address, nobody needs to wait until it is known to be free.
  *:*) ip address add "$NODE_ADDRESS" dev node0 nodad ;;
  *) ip address add "$NODE_ADDRESS" dev node0 ;;
  esac
  ip link set node0 up
  # Without a route the node's own processes are refused before kube-proxy's rules see the packets.
  ip route add "$SERVICES" dev node0
  sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1
  # For a pod that queries a Service whose pod is on the same bridge.
  sysctl -qw net.bridge.bridge-nf-call-iptables=1 net.bridge.bridge-nf-call-ip6tables=1
}

case $1 in
start)
  join_cgroups
  exec setpriv --pdeathsig KILL unshare --mount --net --pid --uts --ipc --cgroup --fork --kill-child \
    --propagation private "$0" first
  ;;
first)
  hostname "$NODE_NAME"
  mount_all
  start_network
  touch "$RUN/started"
  # Bash also reaps the orphans that containerd leaves to the first process.
  while :; do
    sleep 3600 &
    wait || true
  done
  ;;
enter)
  join_cgroups
  pid=$2
  shift 2
  exec nsenter --target "$pid" --mount --net --pid --uts --ipc --cgroup --wd=/ "$@"
  ;;
network)
  join_cgroups
  pid=$2
  shift 2
  exec nsenter --target "$pid" --net "$@"
  ;;
esac
