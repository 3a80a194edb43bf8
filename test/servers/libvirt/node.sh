#!/bin/bash
# node.sh NAME PORT UUID [NETNS]
#
# One private libvirtd with its QEMUs, in the foreground, without systemd. Needs root (CAP_SYS_ADMIN).
# Kill this pid with SIGKILL and libvirtd and every guest go with it; SIGTERM is ignored by unshare.
# Any number of them run side by side: only NAME, PORT and UUID must differ.
#
#   DIR        required: parent folder, short (unix sockets end at 108 bytes). The node lives in $DIR/NAME
#   ADDR       listen address                               (127.0.0.1)
#   HOSTS      lines added to the node's private /etc/hosts ("10.99.0.1 a\n10.99.0.2 b")
#   CAPS       folder with cached QEMU capabilities of an earlier node ($DIR/OTHER/cache): saves 1-8 s
#   KVM        1 keeps /dev/kvm visible                     (hidden: the same result on every machine)
#   RESTART    1 restarts libvirtd when it dies             (else the node dies with it); not while $DIR/NAME/run/hold is there
#   PRE        a command run inside the mount namespace before libvirtd starts
#   LIBVIRTD_CONF   lines in place of the defaults of libvirtd.conf, or beside them
#   QEMU_CONF       lines appended to qemu.conf
#
# Answers on tcp ADDR:PORT and on $DIR/NAME/run/libvirt-sock; own pid in $DIR/NAME/pid.
set -eu
: "${DIR:?folder for the nodes}"
NAME=$1 PORT=$2 UUID=$3 NETNS=${4:-}
R=$(realpath -m "$DIR")/$NAME
rm -rf "$R/run"; mkdir -p "$R"/{etc,run,lib,log,cache}
[ -z "${CAPS:-}" ] || cp -a "$CAPS/." "$R/cache/"

# of a key that stands twice libvirt takes the first
default () { grep -q "^$1 *=" <<< "${LIBVIRTD_CONF:-}" || echo "$1 = $2"; }
{
  default listen_tls 0
  default listen_tcp 1
  default listen_addr "\"${ADDR:-127.0.0.1}\""
  default tcp_port "\"$PORT\""
  default auth_tcp '"none"'
  default auth_unix_ro '"none"'
  default auth_unix_rw '"none"'
  default host_uuid "\"$UUID\""
  default log_outputs '"3:stderr"'
  echo "${LIBVIRTD_CONF:-}"
} > "$R/etc/libvirtd.conf"
cat > "$R/etc/qemu.conf" <<E
user = "root"
group = "root"
dynamic_ownership = 0
security_driver = "none"
namespaces = []
cgroup_controllers = []
stdio_handler = "file"
max_core = 0
${QEMU_CONF:-}
E

# qemu.conf does not parse without the libvirt-qemu user; a private passwd leaves the system alone
{ cat /etc/passwd; grep -q ^libvirt-qemu: /etc/passwd || echo 'libvirt-qemu:x:64055:64055::/nonexistent:/usr/sbin/nologin'; } > "$R/passwd"
{ cat /etc/group; grep -q ^libvirt-qemu: /etc/group || echo 'libvirt-qemu:x:64055:'; } > "$R/group"
{ cat /etc/hosts; echo "127.0.0.1 $NAME"; echo -e "${HOSTS:-}"; } > "$R/hosts"

: > "$R/no-kvm"

# the paths are compiled in, so the mount points must exist
mkdir -p /etc/libvirt /run/libvirt /var/lib/libvirt /var/log/libvirt /var/cache/libvirt

export R NAME KVM="${KVM:-}" RESTART="${RESTART:-}" PRE="${PRE:-true}"
echo $$ > "$R/pid"
exec ${NETNS:+ip netns exec "$NETNS"} \
  unshare --mount --uts --ipc --pid --fork --mount-proc --kill-child=SIGKILL --propagation private sh -ec '
    hostname "$NAME"
    mount --bind "$R/etc" /etc/libvirt
    mount --bind "$R/run" /run/libvirt
    mount --bind "$R/lib" /var/lib/libvirt
    mount --bind "$R/log" /var/log/libvirt
    mount --bind "$R/cache" /var/cache/libvirt
    for f in passwd group hosts; do mount --bind "$R/$f" /etc/$f; done
    # hide KVM behind a read-only file: with /dev/null there libvirt probes QEMU again on every create
    if [ -z "$KVM" ] && [ -e /dev/kvm ]; then
      mount --bind "$R/no-kvm" /dev/kvm
      mount -o remount,bind,ro /dev/kvm
    fi
    eval "$PRE"
    # this shell is PID 1 of the namespace: it reaps the QEMUs, which daemonize and are handed to it
    while :; do
      libvirtd -f /etc/libvirt/libvirtd.conf --listen -p /run/libvirt/libvirtd.pid || true
      [ -n "$RESTART" ] || exit 1
      sleep 0.1
      while [ -e /run/libvirt/hold ]; do sleep 0.1; done
    done'
