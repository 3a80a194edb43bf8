# Starting and stopping. Sourced by openstack.sh.
# shellcheck shell=bash disable=SC2154

# Each daemon runs detached in its own session; $RUN/NAME.pid holds "PID STARTTIME" (field 22 of /proc/PID/stat), so that a recycled pid is
# never mistaken for ours.
starttime() { { sed 's/^.*) //' "/proc/$1/stat" | awk '$1 != "Z" {print $20}'; } 2>/dev/null || true; } # a zombie is dead
pid_of() { local pid t; { read -r pid t < "$RUN/$1.pid"; } 2>/dev/null || return 1; [ -n "$t" ] && [ "$(starttime "$pid")" = "$t" ] && echo "$pid"; }
alive() { pid_of "$1" > /dev/null; }
start() { # NAME CMD...
  local name=$1 pid; shift; alive "$name" && return 0
  setsid "$@" >> "$LOG/$name.log" 2>&1 < /dev/null &
  pid=$!; echo "$pid $(starttime $pid)" > "$RUN/$name.pid"
}
stop() { # NAME [SECONDS]
  alive "$1" || { rm -f "$RUN/$1.pid"; return 0; }
  local pid i; pid=$(pid_of "$1"); kill -TERM "$pid" 2>/dev/null || true
  for i in $(seq 1 $(( ${2:-15} * 20 ))); do alive "$1" || break; sleep 0.05; done
  alive "$1" && { kill -KILL -- "-$pid" 2>/dev/null || kill -KILL "$pid" 2>/dev/null || true; }
  rm -f "$RUN/$1.pid"
}
kill_hard() { local pid; pid=$(pid_of "$1") && kill -KILL "$pid"; rm -f "$RUN/$1.pid"; }
stop_all() { # at once: none of them needs another to stop, and nobody needs the data
  local f n; for f in "$RUN"/*.pid; do [ -e "$f" ] || continue; n=$(basename "$f" .pid); case $n in owner|mariadbd.own) continue ;; esac; stop "$n" 3 & done; wait
}
wait_for() { # NAME SECONDS CMD...
  local name=$1 i n=$(($2 * 10)); shift 2; for i in $(seq $n); do "$@" > /dev/null 2>&1 && return 0
    alive "$name" || { tail -20 "$LOG/$name.log" >&2; die "$name died, see $LOG/$name.log"; }; sleep 0.1; done; die "$name is not ready after $((i / 10)) s, see $LOG/$name.log"
}
listens() { (exec 3<>"/dev/tcp/$IP/$1") 2>/dev/null; }
answers() { curl -s -o /dev/null --max-time 5 "$1"; }
sql() { mariadb --no-defaults -S "$RUN/mysql.sock" -uroot -N -e "$1"; }
# Debian's nova-manage is in a package that is not installed; it is a one-liner around the entry point
nova_manage() { "$PY" -c 'import sys; from nova.cmd.manage import main; sys.exit(main())' --config-file "$ETC/nova.conf" --config-file "$ETC/nova-db.conf" "$@"; }

start_mariadb() {
  [ -d "$OSL_DIR/mysql/mysql" ] || mariadb-install-db --no-defaults --user=root --datadir="$OSL_DIR/mysql" --auth-root-authentication-method=normal --skip-test-db > "$LOG/mariadb-install.log" 2>&1
  # nothing is synced to disk: a crash of the machine may lose data, which a test does not mind
  start mariadb mariadbd --no-defaults --user=root --datadir="$OSL_DIR/mysql" --tmpdir="$OSL_DIR/tmp" \
    --socket="$RUN/mysql.sock" --pid-file="$RUN/mariadbd.own.pid" --bind-address=$IP --port="$DB_PORT" \
    --skip-name-resolve --max-connections=500 --skip-log-bin --innodb-flush-log-at-trx-commit=0 \
    --innodb-doublewrite=0 --innodb-flush-method=nosync --innodb-buffer-pool-size=256M --innodb-log-file-size=64M
  wait_for mariadb 60 listens "$DB_PORT"
}

start_rabbit() {
  # epmd first and by ourselves: otherwise erl daemonises one on 0.0.0.0 that outlives the broker
  export ERL_EPMD_ADDRESS=$IP ERL_EPMD_PORT=$EPMD_PORT
  start epmd epmd; wait_for epmd 10 listens "$EPMD_PORT"
  start rabbitmq env HOME="$OSL_DIR/rabbit" RABBITMQ_CONF_ENV_FILE=/dev/null RABBITMQ_NODENAME=osl@localhost \
    RABBITMQ_CONFIG_FILE="$ETC/rabbitmq.conf" RABBITMQ_MNESIA_BASE="$OSL_DIR/rabbit/mnesia" \
    RABBITMQ_LOG_BASE="$LOG" RABBITMQ_ENABLED_PLUGINS_FILE="$OSL_DIR/rabbit/enabled_plugins" \
    RABBITMQ_DIST_PORT="$RABBIT_DIST_PORT" RABBITMQ_ALLOW_INPUT=1 \
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS="+S 1:1 +sbwt none +sbwtdcpu none +sbwtdio none -noinput -kernel inet_dist_use_interface {127,0,0,1}" \
    /usr/lib/rabbitmq/bin/rabbitmq-server
}

uwsgi_app() { # NAME PORT WSGI-FILE
  # uwsgi closes every connection after one reply without saying so, and clients with connection pools get ECONNRESET: hence
  # "Connection: close", and post-buffering, so that a body is always read (an unread one turns an early 401 into a reset as well)
  start "$1" uwsgi_python3 --http-socket "$IP:$2" --wsgi-file "$3" --master --processes 1 --threads 8 \
    --enable-threads --lazy-apps --buffer-size 65535 --die-on-term --no-orphans --thunder-lock --listen 100 --need-app --chdir "$OSL_DIR/tmp" \
    --disable-logging --add-header "Connection: close" --post-buffering 65536
}

compute_spec() { mkdir -p "$OSL_DIR/compute/$1"; compute_conf "$1" > "$ETC/compute-$1.conf"; echo "nova-compute-$1=nova.cmd.compute=$ETC/nova.conf,$ETC/compute-$1.conf"; }
start_launcher() { mkfifo "$RUN/launcher.fifo"; start nova-launcher env OSL_FAST=1 "$PY" "$HERE/nova-launcher.py" "$RUN" "$LOG" "$ETC/nova.conf"; }
launch() { # SPEC...
  local spec names=() fifo; for spec; do names+=("$RUN/${spec%%=*}.pid"); done; rm -f "${names[@]}"
  exec {fifo}<> "$RUN/launcher.fifo" # for reading too: that waits for nobody, and keeps what is written until the launcher reads it
  printf '%s\n' "$@" >&"$fifo"; wait_for nova-launcher 60 all_there "${names[@]}"; exec {fifo}>&-
}
all_there() { local f; for f; do [ -s "$f" ] || return 1; done; }
start_compute() { stop "nova-compute-$1"; launch "$(compute_spec "$1")"; }
central_spec() { echo "nova-$1=nova.cmd.${1/#api/api_os_compute}=$ETC/nova.conf,$ETC/nova-db.conf"; }
start_api() { stop nova-api; launch "$(central_spec api)"; wait_for nova-api 60 answers "http://$IP:$NOVA_PORT/"; }

start_keystone() { OS_KEYSTONE_CONFIG_DIR=$ETC/keystone OS_KEYSTONE_CONFIG_FILES=keystone.conf uwsgi_app keystone "$KEYSTONE_PORT" /usr/bin/keystone-wsgi-public; }

start_services() {
  start_keystone
  OS_PLACEMENT_CONFIG_DIR=$ETC/placement uwsgi_app placement "$PLACEMENT_PORT" /usr/bin/placement-api
  start glance "$PY" "$HERE/stub.py" image "$GLANCE_PORT"
  start neutron "$PY" "$HERE/stub.py" network "$NEUTRON_PORT"
  wait_for keystone 60 answers "$AUTH_URL"
  wait_for rabbitmq 60 listens "$AMQP_PORT"
  wait_for placement 60 answers "http://$IP:$PLACEMENT_PORT/"
  local name host specs=(); for name in conductor scheduler api; do specs+=("$(central_spec "$name")"); done
  for host in $OSL_HOSTS; do specs+=("$(compute_spec "$host")"); done
  launch "${specs[@]}"
  wait_for nova-api 60 answers "http://$IP:$NOVA_PORT/"
}
