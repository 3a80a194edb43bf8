#!/bin/bash
# rabbitmq.sh - RabbitMQ as a plain process in the node's namespaces: pods reach it at the node's address, and it ends with the node.
#
#   up         starts it, on the data of the last start
#   kill       SIGKILL, as in a crash
#   password   of the user `knative`
#
#   DIR        state of the cluster, as in cluster.sh
set -euo pipefail
D=${DIR:?a folder} DATA=$DIR/rabbitmq NODE_IP=10.$(cat "$DIR/run/net").0.2
die() { echo "rabbitmq: $*" >&2; exit 1; }
read -r HOLDER _ < "$D/run/holder.pid"
export HOME=$DATA RABBITMQ_CONF_ENV_FILE=/dev/null RABBITMQ_NODENAME=rabbit@localhost RABBITMQ_MNESIA_BASE=$DATA/mnesia RABBITMQ_LOG_BASE=$DATA/log \
  RABBITMQ_CONFIG_FILE=$DATA/rabbitmq.conf RABBITMQ_ENABLED_PLUGINS_FILE=$DATA/enabled_plugins RABBITMQ_ALLOW_INPUT=1 ERL_EPMD_ADDRESS=127.0.0.1 \
  RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS="+sbwt none +sbwtdcpu none +sbwtdio none -noinput -kernel inet_dist_use_interface {127,0,0,1}"

server() { # its pid, as this machine sees it
  local p; for p in /proc/[0-9]*; do
    [ "$(cat "$p/comm" 2> /dev/null)" = beam.smp ] && grep -qzF "RABBITMQ_MNESIA_BASE=$DATA/mnesia" "$p/environ" 2> /dev/null &&
      grep -qz -- '-noshell' "$p/cmdline" && grep -qz boot "$p/cmdline" && echo "${p#/proc/}"; done 2> /dev/null | head -n 1 || true
}
up() {
  [ -z "$(server)" ] || return 0
  mkdir -p "$DATA/log"
  [ -s "$DATA/password" ] || (umask 077; head -c 18 /dev/urandom | base64 | tr '+/' 'ab' > "$DATA/password")
  echo '[rabbitmq_management].' > "$DATA/enabled_plugins"
  cat > "$DATA/rabbitmq.conf" <<C
listeners.tcp.1 = $NODE_IP:5672
management.tcp.ip = $NODE_IP
management.tcp.port = 15672
default_user = knative
default_pass = $(cat "$DATA/password")
disk_free_limit.absolute = 100MB
vm_memory_high_watermark.absolute = 1GB
log.file.level = warning
C
  setsid nsenter -t "$HOLDER" --net --mount --pid /usr/lib/rabbitmq/bin/rabbitmq-server > "$DATA/log/console.log" 2>&1 < /dev/null &
  local i; for i in $(seq 1800); do ! (exec 3<> "/dev/tcp/$NODE_IP/5672") 2> /dev/null || return 0; sleep 0.1; done # opened last
  die "no answer: $(tail -n 5 "$DATA/log/console.log")"
}
case ${1:?a command} in
  up) up ;;
  kill) pid=$(server); [ -n "$pid" ] || die "does not run"; kill -9 "$pid" ;;
  password) cat "$DATA/password" ;;
esac
