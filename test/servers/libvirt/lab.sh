#!/bin/bash
# lab.sh COMMAND [ARG...]
#
# Runs COMMAND as root in private mount, PID and, unless NET=host, network namespaces, then stays. SIGKILL on this pid, or the
# death of the parent, ends every process and link in it: two labs may use the same names, addresses and ports.
# Unix sockets under $DIR are reachable from outside; tcp ports only with NET=host.
#
# Later commands:  nsenter -t $(pgrep -P LAB_PID) -n -m -p COMMAND     (pid files written inside hold pids of the lab)
set -eu
mkdir -p /run/netns
[ "${NET:-}" = host ] || net=--net
exec setpriv --pdeathsig KILL unshare ${net:-} --mount --pid --fork --mount-proc --kill-child=SIGKILL --propagation private sh -ec '
  mount -t tmpfs tmpfs /run/netns
  [ "${NET:-}" = host ] || ip link set lo up
  "$@" &
  wait
  while :; do sleep 3600 & wait; done' lab "$@"
