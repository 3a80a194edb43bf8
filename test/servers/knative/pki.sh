# Certificates, tokens and kubeconfigs of one cluster.
EC="-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 30"
crt() { # crt NAME SUBJECT USAGE [ALTERNATIVE_NAMES]
  openssl req -x509 -CA "$P/ca.crt" -CAkey "$P/ca.key" $EC -subj "$2" -keyout "$P/$1.key" -out "$P/$1.crt" -addext basicConstraints=critical,CA:FALSE \
    -addext extendedKeyUsage="$3" ${4:+-addext subjectAltName="$4"} 2> /dev/null; }
USERS='admin|admin|system:masters kcm|system:kube-controller-manager| scheduler|system:kube-scheduler| proxy|system:kube-proxy|
  kubelet|system:node:node1|system:nodes dns|system:coredns| dev|dev|devs'
pki() ( # a process of its own, whose children are the certificates alone
  [ ! -s "$P/done" ] || return 0
  chmod 700 "$P"
  openssl req -x509 $EC -subj /CN=drover-test-ca -keyout "$P/ca.key" -out "$P/ca.crt" -addext keyUsage=critical,keyCertSign,digitalSignature 2> /dev/null
  crt apiserver /CN=kube-apiserver serverAuth "IP:127.0.0.1,IP:$NIP,IP:$SVC.1,DNS:localhost,DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc,DNS:kubernetes.default.svc.cluster.local" &
  crt webhook /CN=webhook serverAuth "IP:127.0.0.1,IP:$HIP,DNS:localhost" & # for admission webhooks of a test
  crt frontproxy /CN=front-proxy-client clientAuth &
  crt kubelet-client /O=system:masters/CN=kube-apiserver-kubelet-client clientAuth &
  openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out "$P/sa.key" 2> /dev/null; openssl pkey -in "$P/sa.key" -pubout -out "$P/sa.pub"
  wait
  local u n rest; : > "$P/tokens.csv"
  for u in $USERS; do
    n=${u%%|*} rest=${u#*|}; od -An -N16 -tx1 /dev/urandom | tr -d ' \n' > "$P/$n.token"
    printf '%s,"%s","%s"%s\n' "$(cat "$P/$n.token")" "${rest%%|*}" "$n" "$([ -z "${rest#*|}" ] || printf ',"%s"' "${rest#*|}")" >> "$P/tokens.csv"
  done
  echo ok > "$P/done"
)
kubeconfigs() { # kubeconfigs SERVER
  local n ca; ca=$(base64 -w0 < "$P/ca.crt")
  for n in admin kcm scheduler proxy kubelet dns dev; do
    printf '{"apiVersion":"v1","kind":"Config","clusters":[{"name":"c","cluster":{"server":"%s","certificate-authority-data":"%s"}}],"users":[{"name":"u","user":{"token":"%s"}}],"contexts":[{"name":"c","context":{"cluster":"c","user":"u"}}],"current-context":"c"}' \
      "$1" "$ca" "$(cat "$P/$n.token")" > "$P/$n.kubeconfig"
  done
}
