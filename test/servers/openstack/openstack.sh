#!/bin/bash
# openstack.sh - a real Keystone, Placement and Nova from Debian packages on loopback, as plain processes: no systemd, no debconf, nothing in
# /etc. The hypervisors are real nova-compute processes on nova's own fake virt driver; Glance and Neutron are stubs (stub.py).
#
#   install              the Debian packages, if they are missing (root)
#   template             databases with their schemas, made once and kept in OSL_CACHE
#   up                   all of it, on free ports, with the hypervisors of OSL_HOSTS; prints nothing but progress, leaves OSL_DIR/env.json
#   compute NAME         start (or restart) one more hypervisor
#   stop NAME            stop one daemon, e.g. nova-compute-hv2
#   kill NAME            the same without a chance to clean up
#   api                  restart nova-api
#   down                 stop everything that was started in OSL_DIR, and delete it
#
#   OSL_DIR    state, configuration, logs and pids of one run
#   OSL_CACHE  what runs share (default: ~/.cache/drover/openstack)
#   OSL_OWNER  a pid: when that process is gone, `down` runs by itself, so that nothing outlives a killed test runner
set -euo pipefail
HERE=$(cd "$(dirname "$0")" && pwd)
OSL_CACHE=${OSL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/drover/openstack}
OSL_HOSTS=${OSL_HOSTS:-"hv1 hv2 hv3"}
PASSWORD=secret IP=127.0.0.1 PY=/usr/bin/python3
# the services need Debian's python3, not one that comes first in somebody's PATH
export LC_ALL=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin no_proxy=$IP,localhost NO_PROXY=$IP,localhost
unset PYTHONPATH PYTHONHOME
PORTS="KEYSTONE NOVA PLACEMENT GLANCE NEUTRON DB AMQP RABBIT_DIST EPMD"

say() { printf '[%s] %s\n' "$(date +%T)" "$*" >&2; }
die() { say "$*"; exit 1; }
in_dir() { # everything that follows from OSL_DIR and its ports
  OSL_DIR=$(realpath -m "${1:?OSL_DIR is not set}"); ETC=$OSL_DIR/etc LOG=$OSL_DIR/log RUN=$OSL_DIR/run; mkdir -p "$RUN" "$LOG" "$ETC"
  local name; for name in $PORTS; do
    [ -s "$RUN/$name.port" ] || free_port > "$RUN/$name.port"; declare -g "${name}_PORT=$(cat "$RUN/$name.port")"; export "${name}_PORT"
  done
  AUTH_URL=http://$IP:$KEYSTONE_PORT/v3 DB_URL=mysql+pymysql://openstack:$PASSWORD@$IP:$DB_PORT AMQP_URL=rabbit://guest:guest@$IP:$AMQP_PORT/
  export AUTH_URL PASSWORD
}
free_port() { # outside the kernel's ephemeral range; the folder is the reservation, so that parallel runs do not meet
  local p i d=${OSL_CACHE%/*}/ports; mkdir -p "$d"
  find "$d" -mindepth 1 -maxdepth 1 -mmin +1440 -exec rmdir {} + 2>/dev/null || true
  for i in $(seq 200); do p=$((20000 + RANDOM % 12000)); (exec 3<>"/dev/tcp/$IP/$p") 2>/dev/null && continue
    mkdir "$d/$p" 2>/dev/null && { echo "$p"; return; }; done; die "no free port after $i attempts"
}
. "$HERE/config.sh"
. "$HERE/daemons.sh"

# Only the python3-* LIBRARY packages: they hold all the code and, unlike nova-api or keystone, ask no questions, make no users and start
# nothing. rabbitmq-server would start itself: policy-rc.d (exit 101) prevents it.
PACKAGES="python3-nova python3-keystone python3-placement uwsgi-core uwsgi-plugin-python3 mariadb-server-core mariadb-client-core rabbitmq-server curl"
missing() { local p; for p in $PACKAGES; do dpkg-query -W -f='${Status}\n' "$p" 2>/dev/null | grep -q 'ok installed' || echo "$p"; done; }
install() {
  mkdir -p "$OSL_CACHE"; [ -n "$(missing)" ] || return 0
  [ "$(id -u)" = 0 ] || die "root is needed to install: $(missing | xargs)"
  command -v apt-get > /dev/null || die "apt-get is needed to install: $(missing | xargs)"
  say "installing $(missing | wc -l) packages and what they need (some minutes, once)"
  exec 7> /run/lock/drover-apt.lock; flock 7 # one at a time, with the others of test/servers/install.ts
  local policy=""; [ -e /usr/sbin/policy-rc.d ] || { printf '#!/bin/sh\nexit 101\n' > /usr/sbin/policy-rc.d; chmod 755 /usr/sbin/policy-rc.d; policy=1; }
  # an archive folder of its own: another apt-get that ends meanwhile may empty the common one
  local apt="apt-get -o DPkg::Lock::Timeout=1200 -o Dir::Cache::archives=$OSL_CACHE/debs"; mkdir -p "$OSL_CACHE/debs/partial"
  $apt update -qq || true
  # shellcheck disable=SC2046
  DEBIAN_FRONTEND=noninteractive $apt -y -qq --no-install-recommends install $(missing) > "$OSL_CACHE/apt.log" 2>&1 || { tail -5 "$OSL_CACHE/apt.log" >&2; local failed=1; }
  [ -z "$policy" ] || rm -f /usr/sbin/policy-rc.d
  exec 7>&-
  rm -rf "$OSL_CACHE/debs"; [ -z "${failed:-}" ] || die "apt-get failed, see $OSL_CACHE/apt.log"
}

# The databases with their schemas take half a minute to make: once, in a folder of their own, whose copy every run starts from.
# Its name tells what it was made by, Nova's version included, which is known only once the packages are there.
template_folder() { echo "$OSL_CACHE/template-$(cat "$HERE/openstack.sh" "$HERE/config.sh" "$HERE/seed.py" | cksum | cut -d' ' -f1)-$(dpkg-query -W -f='${Version}' python3-nova | tr -c 'a-zA-Z0-9.\n' _)"; }
template() { # [CMD...] that wants it, while nobody can take it away
  install; TEMPLATE=$(template_folder); ( flock 8; [ -d "$TEMPLATE" ] || make_template; touch "$TEMPLATE"; "$@" ) 8> "$OSL_CACHE/lock"
}
make_template() {
  say "making the databases (half a minute, once)"
  find "$OSL_CACHE" -maxdepth 1 -name 'template-*' -mtime +7 -exec rm -rf {} +; in_dir "$(mktemp -d "$OSL_CACHE/making.XXXX")"; write_config; start_mariadb
  local db; for db in keystone placement nova_api nova_cell0 nova_cell1; do sql "CREATE DATABASE $db CHARACTER SET utf8mb3"; done
  sql "CREATE USER openstack@'$IP' IDENTIFIED BY '$PASSWORD'; GRANT ALL ON *.* TO openstack@'$IP'; FLUSH PRIVILEGES"
  # the schema migrations are independent of each other: two chains on two cores
  local keystone="keystone-manage --config-file $ETC/keystone/keystone.conf"
  ( set -e; $keystone db_sync; $keystone fernet_setup --keystone-user root --keystone-group root
    $keystone credential_setup --keystone-user root --keystone-group root
    $keystone bootstrap --bootstrap-password $PASSWORD --bootstrap-admin-url "$AUTH_URL" --bootstrap-internal-url "$AUTH_URL" --bootstrap-public-url "$AUTH_URL" --bootstrap-region-id RegionOne
    placement-manage --config-file "$ETC/placement/placement.conf" db sync ) > "$LOG/init-1.log" 2>&1 & local a=$!
  ( set -e; nova_manage api_db sync; nova_manage cell_v2 map_cell0 --database_connection "$DB_URL/nova_cell0"
    nova_manage db sync; nova_manage cell_v2 create_cell --name cell1 ) > "$LOG/init-2.log" 2>&1 & local b=$!
  wait $a || { tail -5 "$LOG/init-1.log" >&2; stop_all; die "no schemas, see $LOG/init-1.log"; }
  wait $b || { tail -5 "$LOG/init-2.log" >&2; stop_all; die "no schemas, see $LOG/init-2.log"; }
  start_keystone; wait_for keystone 60 answers "$AUTH_URL"; "$PY" "$HERE/seed.py" identity || { stop_all; die "keystone could not be seeded"; }; stop keystone
  sql "SET GLOBAL innodb_fast_shutdown=0"; stop mariadb 60; release_ports
  mkdir -p "$OSL_DIR/keep/etc/keystone"; mv "$OSL_DIR/mysql" "$OSL_DIR/keep"; mv "$ETC"/keystone/*-keys "$OSL_DIR/keep/etc/keystone"
  mv "$OSL_DIR/keep" "$TEMPLATE"; rm -rf "$OSL_DIR"
}

up() {
  local dir=${OSL_DIR:?OSL_DIR is not set}; install; in_dir "$dir"; owner; write_config
  template cp -a --reflink=auto "$(template_folder)/." "$OSL_DIR/"
  start_launcher; start_rabbit; start_mariadb
  # the template was made with other ports
  sql "$(for of in "identity $KEYSTONE_PORT/v3" "compute $NOVA_PORT/v2.1" "placement $PLACEMENT_PORT" "image $GLANCE_PORT" "network $NEUTRON_PORT"; do
         echo "UPDATE keystone.endpoint SET url = 'http://$IP:${of#* }' WHERE service_id = (SELECT id FROM keystone.service WHERE type = '${of% *}');"; done)
       UPDATE nova_api.cell_mappings SET transport_url = '$AMQP_URL', database_connection = '$DB_URL/nova_cell1' WHERE name = 'cell1';
       UPDATE nova_api.cell_mappings SET database_connection = '$DB_URL/nova_cell0' WHERE name = 'cell0'"
  start_services
  # shellcheck disable=SC2086
  "$PY" "$HERE/seed.py" compute $OSL_HOSTS || die "the hypervisors did not come up, see $LOG"
  printf '{"authUrl":"%s","password":"%s","dir":"%s"}\n' "$AUTH_URL" "$PASSWORD" "$OSL_DIR" > "$OSL_DIR/env.json"
  say "OpenStack is ready"
}
down() { [ -d "$OSL_DIR" ] || return 0; rm -f "$RUN/owner.pid"; stop_all; release_ports; rm -rf -- "$OSL_DIR"; }
release_ports() { local name; for name in $PORTS; do rmdir "${OSL_CACHE%/*}/ports/$(cat "$RUN/$name.port")" 2>/dev/null || true; done; }
owner() {
  [ -n "${OSL_OWNER:-}" ] || return 0; local born; born=$(starttime "$OSL_OWNER"); [ -n "$born" ] || die "OSL_OWNER $OSL_OWNER is not running"
  OSL_DIR=$OSL_DIR setsid "$HERE/openstack.sh" watch "$OSL_OWNER" "$born" > /dev/null 2>&1 < /dev/null & echo $! > "$RUN/owner.pid"
}
watch() { while [ -e "$RUN/owner.pid" ]; do [ "$(starttime "$1")" = "$2" ] || { down; break; }; sleep 0.5; done; }

command=${1:?a command is needed, see the head of this file}; shift
case $command in
  install) install ;;
  template) template ;;
  up) up ;;
  compute|stop|kill|api|down|watch) [ -d "${OSL_DIR:?OSL_DIR is not set}" ] || exit 0; in_dir "$OSL_DIR"
    case $command in compute) start_compute "$1" ;; stop) stop "$1" ;; kill) kill_hard "$1" ;; api) start_api ;; down) down ;; watch) watch "$@" ;; esac ;;
  *) die "unknown command $command" ;;
esac
