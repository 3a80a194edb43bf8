# The processes of a node, and what each is told.
NS=() # command prefix: into the namespaces
# A process is ours when its pid still has the start time that was noted: a reused pid is never signalled.
born() { local s; s=$(cat "/proc/$1/stat" 2> /dev/null) || return 1; s=${s##*) }; set -- $s; [ "$1" != Z ] || return 1; echo "${20}"; }
pid() { local p s; read -r p s < "$R/$1.pid"; echo "$p"; }
alive() { local p s; [ -s "$R/$1.pid" ] && read -r p s < "$R/$1.pid" && [ "$(born "$p")" = "$s" ]; }
start() { local n=$1; shift; alive "$n" && return; setsid "${NS[@]}" "$@" >> "$L/$n.log" 2>&1 < /dev/null & echo "$! $(born $!)" > "$R/$n.pid"; }
kill_part() { # nsenter waits for its child, which is the daemon
  local p i; alive "$1" || die "$1 does not run"; p=$(pid "$1"); kill -9 "$(tr -d ' ' < "/proc/$p/task/$p/children")"
  for i in $(seq 200); do alive "$1" || return 0; sleep 0.02; done; die "$1 does not end"
}
wait_for() { # wait_for NAME SECONDS COMMAND...
  local n=$1 i c=$2; shift 2
  for i in $(seq $((c * 20))); do "$@" > /dev/null 2>&1 && return 0
    alive "$n" || { tail -n 5 "$L/$n.log" >&2; die "$n died"; }; sleep 0.05; done
  tail -n 5 "$L/$n.log" >&2; die "$n is not ready after $c s"
}

configs() {
  [ ! -e "$D/dns.yaml" ] || return 0
  local f; for f in "$HERE"/config/*; do
    sed -e "s#@D@#$D#g; s#@N@#$N#g; s#@CGROUP@#$CGROUP#g" "$f" > "$D/$(basename "$f")"; done
  mv "$D/10-bridge.conflist" "$D/cni/"; : > "$D/resolv.conf"
}

# unix sockets only; the advertised addresses are never dialled. No fsync: a crash of the machine may lose a test's data
etcd_up() {
  alive etcd || rm -f "$R/etcd.sock" "$R/peer.sock"
  start etcd "$CONTROL/etcd" --name t --data-dir "$D/etcd" --unsafe-no-fsync --listen-client-urls "unix://$R/etcd.sock" --advertise-client-urls http://127.0.0.1:2379 \
    --listen-peer-urls "unix://$R/peer.sock" --initial-advertise-peer-urls http://127.0.0.1:2380 --initial-cluster t=http://127.0.0.1:2380 --log-level warn
}
containerd_up() { containerd_root; start containerd containerd -c "$D/containerd.toml"; }
ready() { curl -sf --max-time 2 --cacert "$P/ca.crt" -H "Authorization: Bearer $(cat "$P/admin.token")" "https://$NIP:6443/readyz"; }
control_plane_up() {
  local i; for i in $(seq 500); do [ -S "$R/etcd.sock" ] && break; sleep 0.02; done # an API server that finds no etcd waits a whole second
  start kube-apiserver "$CONTROL/kube-apiserver" --etcd-servers="unix://$R/etcd.sock" --bind-address=0.0.0.0 --secure-port=6443 --advertise-address="$NIP" \
    --tls-cert-file="$P/apiserver.crt" --tls-private-key-file="$P/apiserver.key" --client-ca-file="$P/ca.crt" --token-auth-file="$P/tokens.csv" \
    --service-account-issuer=https://kubernetes.default.svc.cluster.local --service-account-key-file="$P/sa.pub" --service-account-signing-key-file="$P/sa.key" \
    --authorization-mode=Node,RBAC --enable-admission-plugins=NodeRestriction --allow-privileged=true --service-cluster-ip-range="$SVC.0/20" \
    --requestheader-client-ca-file="$P/ca.crt" --requestheader-allowed-names=front-proxy-client --requestheader-username-headers=X-Remote-User \
    --requestheader-group-headers=X-Remote-Group --requestheader-extra-headers-prefix=X-Remote-Extra- --requestheader-uid-headers=X-Remote-Uid \
    --proxy-client-cert-file="$P/frontproxy.crt" --proxy-client-key-file="$P/frontproxy.key" --enable-aggregator-routing=true \
    --kubelet-client-certificate="$P/kubelet-client.crt" --kubelet-client-key="$P/kubelet-client.key" --kubelet-preferred-address-types=InternalIP \
    --audit-policy-file="$D/audit.yaml" --audit-log-path="$D/audit.log" --profiling=false
  wait_for kube-apiserver 180 ready
  # not before: it ends by itself when the API server is not healthy within 10 s
  start kube-controller-manager "$CONTROL/kube-controller-manager" --kubeconfig="$P/kcm.kubeconfig" --secure-port=0 --leader-elect=false --use-service-account-credentials=true \
    --service-account-private-key-file="$P/sa.key" --root-ca-file="$P/ca.crt" --cluster-signing-cert-file="$P/ca.crt" --cluster-signing-key-file="$P/ca.key" \
    --kube-api-qps=1000 --kube-api-burst=2000 --profiling=false
}
node_up() {
  wait_for containerd 60 ctr -a "$R/containerd.sock" version
  start kube-scheduler "$NODE/kube-scheduler" --kubeconfig="$P/scheduler.kubeconfig" --authentication-kubeconfig="$P/scheduler.kubeconfig" --authorization-kubeconfig="$P/scheduler.kubeconfig" --secure-port=0 --leader-elect=false
  start kubelet "$NODE/kubelet" --config="$D/kubelet.yaml" --kubeconfig="$P/kubelet.kubeconfig" --root-dir="$D/kubelet" --cert-dir="$D/kubelet-pki" --hostname-override=node1 --node-ip="$NIP"
  start kube-proxy "$NODE/kube-proxy" --kubeconfig="$P/proxy.kubeconfig" --hostname-override=node1 --proxy-mode=iptables --cluster-cidr="$POD.0/24" --bind-address="$NIP" \
    --conntrack-max-per-core=0 --conntrack-tcp-timeout-established=0 --conntrack-tcp-timeout-close-wait=0 --healthz-bind-address=127.0.0.1:10256 --metrics-bind-address=127.0.0.1:10249
}
dns_up() { start coredns "$NODE/dns" -conf "$D/Corefile"; }
