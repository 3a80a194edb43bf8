#!/bin/bash
# cluster.sh - a real Kubernetes with one node, in a network, mount and PID namespace of its own. Root.
#
#   up                 starts what does not run; called again after `kill` it starts that part anew, with the data still there
#   kill PART          SIGKILL to one daemon: etcd, kube-apiserver, kube-controller-manager, kubelet …
#   import FILE        an OCI archive into the node's containerd
#   run COMMAND…       inside the namespaces
#   down               ends everything, and removes DIR
#
#   DIR        state of ONE cluster; short, since a unix socket path ends at 108 bytes
#   CONTROL, NODE, KNATIVE   folders of what was built
#   OWNER      a pid: when that process is gone, `down` runs by itself, so that nothing outlives a killed test
#
# Addresses: 10.N.0.1 this machine, 10.N.0.2 node and API server, 10.N.64.0/20 Services, 10.N.128.0/24 pods; all can be reached from here, and
# pods reach a server of the test at 10.N.0.1. N is one that is free.
set -euo pipefail
HERE=$(cd "$(dirname "$0")" && pwd)
D=${DIR:?a folder} P=$DIR/pki L=$DIR/log R=$DIR/run
say() { printf '[%s] %s\n' "$(date -u +%T)" "$*" >&2; }
die() { say "$*"; exit 1; }
addresses() { N=$(cat "$R/net"); CGROUP=drover-k$N HOSTIF=drk$N HIP=10.$N.0.1 NIP=10.$N.0.2 SVC=10.$N.64 POD=10.$N.128; }
[ ! -s "$R/net" ] || addresses
. "$HERE/pki.sh"
. "$HERE/daemons.sh"
k() { "$CONTROL/kubectl" --kubeconfig "$P/admin.kubeconfig" --cache-dir "$D/kubectl-cache" "$@"; }

# ---------------------------------------------------------------- the namespaces
# No rule reaches the machine's firewall, folders such as /var/lib/kubelet are private, and when the first process ends, the kernel ends the rest.
PRIVATE="var/lib/kubelet var/lib/cni var/log run/containerd run/netns"
take_net() { # the name of the link is the reservation: two clusters never get the same number
  local n; for n in $(seq 100 220); do
    [ -z "$(ip -4 route show "10.$n.0.0/16")" ] && ip link add "drk$n" type veth peer name "drk${n}p" 2> /dev/null || continue
    echo "$n" > "$R/net"; addresses; return; done; die "no free network"
}
namespaces() {
  [ -s "$R/net" ] || take_net
  ! alive holder || { NS=(nsenter -t "$(pid holder)" --net --mount --pid); return 0; }
  local d i u h; for d in $PRIVATE; do mkdir -p "$D/private/$d" "/$d"; done
  setsid unshare --net --mount --pid --fork --kill-child --propagation private bash -c '
    mount -t proc proc /proc; for d in $3; do mount --bind "$1/private/$d" "/$d"; done
    mount --make-rshared /; ip link set lo up; echo ok > "$1/run/holder.ready"; exec "$2/pause"' drover "$D" "$NODE" "$PRIVATE" > "$L/holder.log" 2>&1 < /dev/null &
  u=$!; for i in $(seq 500); do [ -s "$R/holder.ready" ] && break; sleep 0.02; done
  h=$(tr -d ' ' < "/proc/$u/task/$u/children"); [ -n "$h" ] || die "no namespaces: $(cat "$L/holder.log")"
  echo "$h $(born "$h")" > "$R/holder.pid"
  NS=(nsenter -t "$h" --net --mount --pid)
  ip link set "${HOSTIF}p" netns "$h" name eth0; ip addr add "$HIP/24" dev "$HOSTIF"; ip link set "$HOSTIF" up
  "${NS[@]}" sh -ec "ip addr add $NIP/24 dev eth0; ip link set eth0 up; ip route add default via $HIP; sysctl -qw net.ipv4.ip_forward=1
    sysctl -qw net.bridge.bridge-nf-call-iptables=1 2> /dev/null || true"
  ip route replace "10.$N.0.0/16" via "$NIP"
}

# ---------------------------------------------------------------- up
up() {
  mkdir -p "$P" "$L" "$R" "$D"/{cni,kubelet}; namespaces; owner; pki; kubeconfigs "https://$NIP:6443"; configs
  etcd_up; containerd_up; control_plane_up
  local c; for c in /sys/fs/cgroup/*/; do [ -e "$c/cgroup.procs" ] && [ "$c" != /sys/fs/cgroup/unified/ ] && mkdir -p "$c/$CGROUP"; done
  echo 20480 > "/sys/fs/cgroup/cpu/$CGROUP/cpu.shares" # forty pods, which would else have the weight of one process
  node_up
  k apply -f "$D/dns.yaml" > /dev/null; dns_up
  wait_for kubelet 120 node_ready
  wait_for coredns 60 "${NS[@]}" curl -sf http://127.0.0.1:8181/ready
  wait_for kube-controller-manager 60 k get serviceaccount default -n default
}
node_ready() { [ "$(k get node node1 -o 'jsonpath={.status.conditions[?(@.type=="Ready")].status}' 2> /dev/null)" = True ]; }

# Content and snapshots never change once they are there: hard links. The two databases do.
containerd_root() {
  [ ! -d "$D/containerd" ] || return 0
  cp -al "$KNATIVE/containerd" "$D/containerd" 2> /dev/null || { rm -rf "$D/containerd"; cp -a "$KNATIVE/containerd" "$D/containerd"; } # another disk
  (cd "$KNATIVE/containerd" && find . -name '*.db') | while read -r f; do cp --remove-destination "$KNATIVE/containerd/$f" "$D/containerd/$f"; done
}

# ---------------------------------------------------------------- down
owner() {
  [ -n "${OWNER:-}" ] && [ ! -e "$R/owner.pid" ] || return 0
  local s; s=$(born "$OWNER") || die "OWNER $OWNER is not running"
  echo taken > "$R/owner.pid"; setsid "$HERE/cluster.sh" watch "$OWNER" "$s" > /dev/null 2>&1 < /dev/null &
}
watch() { while [ -e "$R/owner.pid" ]; do [ "$(born "$1")" = "$2" ] || { down; break; }; sleep 0.5; done; }
cgroups() { find /sys/fs/cgroup/*/"$CGROUP" -depth -type d 2> /dev/null || true; }
down() {
  [ -d "$D" ] || return 0; rm -f "$R/owner.pid"
  if [ -s "$R/net" ]; then
    ! alive holder || kill -9 "$(pid holder)"
    local i; for i in $(seq 200); do alive holder || break; sleep 0.05; done
    ip link del "$HOSTIF" 2> /dev/null || true # it went with its namespace, unless none was made
    for i in $(seq 200); do cgroups | xargs -r rmdir 2> /dev/null || true; [ -n "$(cgroups | head -n 1)" ] || break; sleep 0.05; done
  fi
  rm -rf -- "$D"
}

command=${1:?see the head of this file}; shift
case $command in
  up) up ;;
  kill) kill_part "$1" ;;
  import) ctr -a "$R/containerd.sock" -n k8s.io images import "$1" > /dev/null ;;
  run) exec nsenter -t "$(pid holder)" --net --mount --pid "$@" ;;
  down) down ;;
  watch) watch "$@" ;;
  *) die "unknown command $command" ;;
esac
