#!/bin/bash
# node.sh NAME [NETNS]
#
# One private Open vSwitch (ovsdb-server + ovs-vswitchd, userspace datapath) with everything in $DIR/NAME; returns when it is up.
# Called again it starts only what has died, on the same database.
# Stop it:  kill $(cat $DIR/NAME/*.pid)
#
#   DIR     required: parent folder, short (unix sockets end at 108 bytes)
#   TCP     also listen for OVSDB on tcp 127.0.0.1:TCP
#   OVS_HOME where another release was unpacked: newer.sh
#   DUMMY   1: no root, no tun device; every netdev is a dummy (ovs-appctl netdev-dummy/set-admin-state p0 down)
#
# Sockets: $DIR/NAME/db.sock (OVSDB), ovs-vswitchd.PID.ctl and ovsdb-server.PID.ctl (unixctl: OVS_RUNDIR=$DIR/NAME ovs-appctl ...), BRIDGE.mgmt (OpenFlow).
# They are reachable from every network namespace.
set -eu
: "${DIR:?folder for the nodes}"
NAME=$1 NETNS=${2:-}
if [ -n "$NETNS" ]; then exec ip netns exec "$NETNS" "$0" "$NAME"; fi
R=$(realpath -m "$DIR")/$NAME; mkdir -p "$R"; cd "$R"
export OVS_RUNDIR=$R OVS_LOGDIR=$R OVS_DBDIR=$R OVS_SYSCONFDIR=$R
SCHEMA=${OVS_HOME:-/usr}/share/openvswitch/vswitch.ovsschema
daemon () { # NAME COMMAND...: unless it runs already
  local name=$1; shift
  if ovs-appctl -T 1 -t "$name" version > /dev/null 2>&1; then return; fi
  "$@" -vconsole:off --pidfile="$R/$name.pid" --log-file="$R/$name.log" --no-chdir --detach
}

[ -f conf.db ] || ovsdb-tool create conf.db $SCHEMA
daemon ovsdb-server ovsdb-server conf.db --remote="punix:$R/db.sock" --remote=db:Open_vSwitch,Open_vSwitch,manager_options ${TCP:+--remote=ptcp:$TCP:127.0.0.1}
ovs-vsctl --db="unix:$R/db.sock" --no-wait init
ovs-vsctl --db="unix:$R/db.sock" --no-wait set Open_vSwitch . external_ids:system-id="$NAME" external_ids:hostname="$NAME" \
  ovs-version="$(ovs-vswitchd --version | awk '{ print $NF; exit }')" db-version="$(ovsdb-tool schema-version conf.db 2> /dev/null || ovsdb-tool schema-version $SCHEMA)" # as ovs-ctl does
daemon ovs-vswitchd ovs-vswitchd "unix:$R/db.sock" ${DUMMY:+--enable-dummy=override --disable-system}
