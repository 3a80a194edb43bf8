# The releases' own manifests (config/ inside each module) for the test node: names of the images made here; in Deployments small requests
# (two cores are all there is; without any a pod gets next to nothing on a busy machine) and no limits, no preStop (it wants a shell), readiness asked every second from the start, no liveness and a patient
# readiness: on a busy machine a part is slow, not dead. ConfigMaps stay as they are: a webhook compares a checksum.
documents() { local f; for f in "$@"; do cat "$f"; printf '\n---\n'; done; }
small() { # small VERSION < yaml
  awk -v tag="$1" '
    BEGIN { drop = -1 }
    /^---/ { deployment = 0 }
    /^kind: Deployment/ { deployment = 1 }
    { match($0, /^ */); indent = RLENGTH }
    drop >= 0 && indent > drop { next }
    { drop = -1 }
    deployment && /^ *lifecycle:/ { drop = indent; next }
    deployment && /^ *resources:/ { drop = indent; printf "%*sresources: {requests: {cpu: 20m, memory: 32Mi}}\n", indent, ""; next }
    deployment && /^ *livenessProbe:/ { drop = indent; next }
    deployment && /^ *readinessProbe:/ { probe = indent; inside = 1; print; printf "%*sfailureThreshold: 60\n%*stimeoutSeconds: 30\n", indent + 2, "", indent + 2, ""; next }
    inside && indent <= probe { inside = 0 }
    deployment && inside && /(initialDelaySeconds|failureThreshold|timeoutSeconds):/ { next }
    deployment && inside { sub(/periodSeconds: *[0-9]+/, "periodSeconds: 1") }
    match($0, /ko:\/\/knative\.dev\/[a-z_\/-]+/) {
      name = substr($0, RSTART, RLENGTH); split(name, part, "/"); sub(/.*\//, "", name)
      $0 = substr($0, 1, RSTART - 1) "dev.local/" part[4] "/" name ":" tag substr($0, RSTART + RLENGTH)
    }
    { print }'
}

manifests_eventing() { # manifests_eventing MODULE_FOLDER
  local c=$1/config i=$1/config/channels/in-memory-channel b=$1/config/brokers/mt-channel-broker
  documents "$c"/core/resources/*.yaml "$i"/resources/*.yaml | small "$EVENTING" > "$MANIFESTS/eventing-crds.yaml"
  documents "$c"/core/{100,200}-*.yaml "$c"/core/{roles,configmaps,webhooks}/*.yaml "$1"/third_party/eventing-integrations-latest/*.yaml \
    "$c"/core/deployments/{controller,webhook,pingsource-mt-adapter}.yaml \
    "$i"/200-*.yaml "$i"/{roles,configmaps,webhooks,deployments}/*.yaml \
    "$b"/roles/*.yaml "$b"/deployments/{controller,broker-filter,broker-ingress}.yaml | small "$EVENTING" > "$MANIFESTS/eventing.yaml"
}

manifests_serving() { # manifests_serving SERVING_FOLDER KOURIER_FOLDER
  local c=$1/config/core n k=$2/config ca
  n=$(module knative.dev/networking "$(wanted "$1" knative.dev/networking)")/config   # symbolic links of the repository:
  ca=$(module knative.dev/caching "$(wanted "$1" knative.dev/caching)")/config        # a module archive has none
  documents "$c"/300-resources/*.yaml "$n"/{certificate,domain-claim,ingress,serverlessservice}.yaml "$ca"/image.yaml |
    small "$SERVING" > "$MANIFESTS/serving-crds.yaml"
  documents "$c"/100-*.yaml "$c"/200-roles/*.yaml "$c"/200-serviceaccount.yaml "$c"/{configmaps,webhooks}/*.yaml "$n"/config-network.yaml \
    "$c"/deployments/{activator,autoscaler,controller,webhook}.yaml | small "$SERVING" > "$MANIFESTS/serving.yaml"
  documents "$k"/{100,200,300}-*.yaml | small "$KOURIER" | sed "s#docker.io/envoyproxy/envoy:.*#dev.local/envoy:$ENVOY#" > "$MANIFESTS/kourier.yaml"
}

# The broker's controller watches Endpoints, a right that Eventing's own account has no more. The topology operator's webhook wants
# cert-manager and only refuses changes of immutable fields: off.
manifests_rabbitmq() { # manifests_rabbitmq BROKER_MODULE TOPOLOGY_MODULE CLUSTER_MODULE
  local part file edit=
  for part in ingress dispatcher controller/broker webhook/broker; do edit+="s#ko://knative.dev/eventing-rabbitmq/cmd/$part\$#dev.local/rabbitmq/${part%%/broker}:$RABBIT#;"; done
  documents "$1"/config/broker/300-*.yaml "$2"/config/crd/bases/*.yaml "$3"/config/crd/bases/*.yaml > "$MANIFESTS/rabbitmq-crds.yaml"
  { documents "$1"/config/broker/{200,201,500}-*.yaml | sed -E "$edit; s/^( *)- name: SYSTEM_NAMESPACE/\1- {name: KUBE_API_QPS, value: '200'}\n\1- {name: KUBE_API_BURST, value: '400'}\n&/"
    cat "$HERE/rabbitmq-rights.yaml"
    for file in namespace rbac manager; do echo ---; "$KUBECTL" kustomize "$2/config/$file"; done |
      sed -E -e "s#image: rabbitmqoperator/.*#image: dev.local/rabbitmq/topology:$TOPOLOGY#; s#imagePullPolicy: Always#imagePullPolicy: IfNotPresent#; s#- /manager#- /ko-app/topology#" \
        -e "s/^( *)(- )?env:/&\n\1- {name: ENABLE_WEBHOOKS, value: 'false'}/" -e '/^ *limits:/,/^ *memory:/d'
  } > "$MANIFESTS/rabbitmq.yaml"
}

manifests() {
  manifests_eventing "$(module knative.dev/eventing "$EVENTING")"
  manifests_serving "$(module knative.dev/serving "$SERVING")" "$(module knative.dev/net-kourier "$KOURIER")"
  manifests_rabbitmq "$(module knative.dev/eventing-rabbitmq "$RABBIT")" "$(module github.com/rabbitmq/messaging-topology-operator "$TOPOLOGY")" \
    "$(module github.com/rabbitmq/cluster-operator "$RABBIT_CLUSTER")"
}
