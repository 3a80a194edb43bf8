#!/bin/bash
# lab.sh COMMAND [ARG...]
#
# Runs COMMAND as root in private network, mount and PID namespaces, says "up" when it is done, then stays. `ip netns add` inside is
# private too, so two labs may use the same names, addresses and ports. SIGKILL on this pid, or the death of the parent, ends every
# process and link in it. Unix sockets under $DIR are reachable from outside; tcp ports are not.
#
#   HOSTNET   1: the caller's network, without namespaces to make: for what must be heard on its loopback
#
# Later commands:  nsenter -t $(pgrep -P LAB_PID) -n -m -p COMMAND     (pid files written inside hold pids of the lab)
set -eu
mkdir -p /run/netns
net=--net; if [ -n "${HOSTNET:-}" ]; then net=--ipc; fi
exec setpriv --pdeathsig KILL unshare "$net" --mount --pid --fork --mount-proc --kill-child=SIGKILL --propagation private sh -ec '
  mount -t tmpfs tmpfs /run/netns
  [ -n "${HOSTNET:-}" ] || ip link set lo up
  "$@" >&2
  echo up
  while :; do sleep 3600 & wait; done' lab "$@"
