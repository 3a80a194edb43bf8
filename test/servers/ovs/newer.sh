#!/bin/bash
# newer.sh FOLDER SUITE
#
# Open vSwitch and OVN of another Debian SUITE, with the libraries they need, unpacked below FOLDER; nothing is installed. FOLDER/bin has a
# command for each, FOLDER/share the schemas. About 15 MB to load.
set -eu
FOLDER=$1 SUITE=$2
W=$(mktemp -d); trap 'rm -rf "$W"' EXIT
mkdir -p "$W"/lists/partial "$W"/cache/archives/partial "$W"/debs "$W"/made/bin; touch "$W"/status
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian $SUITE main" > "$W"/sources.list
apt=(apt-get -qq -o Dir::State="$W" -o Dir::State::status="$W"/status -o Dir::Cache="$W"/cache -o Dir::Etc::sourcelist="$W"/sources.list
  -o Dir::Etc::sourceparts=/dev/null -o Dir::Etc::preferencesparts=/dev/null -o Acquire::Languages=none -o APT::Sandbox::User=root)
"${apt[@]}" update
cd "$W"/debs
"${apt[@]}" download openvswitch-switch openvswitch-common ovn-common ovn-central ovn-host \
  libc6 libgcc-s1 libcap-ng0 libssl3t64 libunbound8 libevent-2.1-7t64 libnuma1 libelf1t64 libbpf1 libxdp1 zlib1g libzstd1
for deb in *.deb; do dpkg -x "$deb" "$W"/made; done
for file in "$W"/made/usr/bin/ov* "$W"/made/usr/sbin/ov* "$W"/made/usr/lib/openvswitch-switch/ovs-vswitchd; do
  [ "$(head -c 4 "$file" | tail -c 3)" = ELF ] || continue
  path=$FOLDER${file#"$W"/made} name=$(basename "$file")
  libs=$FOLDER/usr/lib/x86_64-linux-gnu
  printf '#!/bin/sh\nexec %s --library-path %s --argv0 %s %s "$@"\n' "$libs/ld-linux-x86-64.so.2" "$libs" "$name" "$path" > "$W"/made/bin/"$name"
  chmod +x "$W"/made/bin/"$name"
done
ln -s usr/share "$W"/made/share
mkdir -p "$(dirname "$FOLDER")"
mv -T "$W"/made "$FOLDER"
