# An OCI archive of one layer: a root folder with the binary, what it links to, CA certificates and a user. The same input gives the same archive.
image() { # image FILE NAME ENTRYPOINT UID ROOT
  local file=$1 name=$2 entry=$3 uid=$4 root=$5 dir layer config manifest
  local same=(--sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner)
  dir=$(mktemp -d "$OUT/image.XXXXXX")
  mkdir -p "$dir/blobs/sha256" "$root/tmp" "$root/etc/ssl/certs"
  chmod 755 "$root"; chmod 1777 "$root/tmp"
  cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/" 2> /dev/null || true # Go programs do without
  printf 'nonroot:x:%s:%s::/tmp:/bin/false\n' "$uid" "$uid" > "$root/etc/passwd"
  blob() { local d; d=$(sha256sum "$1" | cut -c1-64); mv "$1" "$dir/blobs/sha256/$d"; echo "$d"; }
  about() { printf '{"mediaType":"application/vnd.oci.image.%s","digest":"sha256:%s","size":%s' "$1" "$2" "$(stat -c %s "$dir/blobs/sha256/$2")"; }
  tar -C "$root" "${same[@]}" -cf "$dir/layer" .
  layer=$(blob "$dir/layer")
  printf '{"architecture":"amd64","os":"linux","config":{"User":"%s","Entrypoint":["%s"]},"rootfs":{"type":"layers","diff_ids":["sha256:%s"]}}' \
    "$uid" "$entry" "$layer" > "$dir/config"
  config=$(blob "$dir/config")
  printf '{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":%s},"layers":[%s}]}' \
    "$(about config.v1+json "$config")" "$(about layer.v1.tar "$layer")" > "$dir/manifest"
  manifest=$(blob "$dir/manifest")
  printf '{"schemaVersion":2,"manifests":[%s,"annotations":{"io.containerd.image.name":"%s","org.opencontainers.image.ref.name":"%s"}}]}' \
    "$(about manifest.v1+json "$manifest")" "$name" "${name##*:}" > "$dir/index.json"
  printf '{"imageLayoutVersion":"1.0.0"}' > "$dir/oci-layout"
  tar -C "$dir" "${same[@]}" -cf "$IMAGES/$file.tar" oci-layout index.json blobs
  rm -rf "$dir" "$root"
}

# Pods of the RabbitMQ broker must not run as root and name no user, so the image has to; Serving asks no registry about dev.local.
go_image() { # go_image COMPONENT PART VERSION BINARY
  local root; root=$(mktemp -d "$OUT/root.XXXXXX")
  install -D "$4" "$root/ko-app/$2"
  image "$1-$2" "dev.local/$1/$2:$3" "/ko-app/$2" 65532 "$root"
}
