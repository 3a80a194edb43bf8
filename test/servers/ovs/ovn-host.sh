#!/bin/bash
# ovn-host.sh NAME ENCAP_IP [NETNS]
#
# Makes the Open vSwitch of node.sh NAME an OVN chassis: starts ovn-controller beside it.
# Stop it:  kill $(cat $DIR/NAME/ovn-controller.pid) keeps its Chassis row; ovn-controller's unixctl command "exit" removes it.
#
#   DIR        required: the DIR of node.sh
#   SB         southbound database                  (unix:$DIR/central/sb.sock, which crosses namespaces)
#   MAPPINGS   ovn-bridge-mappings                  (physnet1:br-provider)
#
# This ovn-controller takes no --unixctl: its socket is $DIR/NAME/ovn-controller.PID.ctl
set -eu
: "${DIR:?folder for the nodes}"
NAME=$1 IP=$2 NETNS=${3:-}
if [ -n "$NETNS" ]; then exec ip netns exec "$NETNS" "$0" "$NAME" "$IP"; fi
DIR=$(realpath -m "$DIR") R=$DIR/$NAME; cd "$R"
export OVN_RUNDIR=$R OVN_LOGDIR=$R OVS_RUNDIR=$R OVS_LOGDIR=$R
ovs-vsctl --db="unix:$R/db.sock" --no-wait set Open_vSwitch . \
  external_ids:system-id="$NAME" external_ids:hostname="$NAME" \
  external_ids:ovn-remote="\"${SB:-unix:$DIR/central/sb.sock}\"" \
  external_ids:ovn-encap-type=geneve external_ids:ovn-encap-ip="$IP" \
  external_ids:ovn-bridge-datapath-type=netdev \
  external_ids:ovn-bridge-mappings="\"${MAPPINGS:-physnet1:br-provider}\""
ovn-controller "unix:$R/db.sock" -vconsole:off --pidfile="$R/ovn-controller.pid" --log-file="$R/ovn-controller.log" --no-chdir --detach
