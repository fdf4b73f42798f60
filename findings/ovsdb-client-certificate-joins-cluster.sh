#!/usr/bin/env bash
# ovsdb-server 3.1.0 (Debian 12: openvswitch-common 3.1.0-2+deb12u1) has one list of authorities (--ca-cert) for its clients and for the other servers of its
# cluster. So whoever may read and write a clustered database with a certificate may also join the cluster as a server that votes, even with a
# certificate that is for clients alone (extended key usage clientAuth). ovsdb(7) and ovsdb-server(1) do not say so. Who holds one client's key can add
# servers until those that are meant to be there are no majority; ending them then stops the database.
# Output: "joined: a certificate for clients alone". This fails if the server is refused.
set -euo pipefail
dir=$(mktemp -d)
pids=()
trap 'kill "${pids[@]}" 2>/dev/null || true; rm -rf "$dir"' EXIT
cd "$dir"
apt-get download -qq openvswitch-common=3.1.0-2+deb12u1 libunbound8 libxdp1 libbpf1 libnuma1 libcap-ng0 libevent-2.1-7 >/dev/null 2>&1
for package in *.deb; do dpkg-deb -x "$package" root; done
server=$(find root -name ovsdb-server -type f) tool=$(find root -name ovsdb-tool -type f)
export LD_LIBRARY_PATH=$dir/root/usr/lib/$(uname -m)-linux-gnu:$dir/root/lib/$(uname -m)-linux-gnu

echo '{"name":"D","version":"1.0.0","tables":{"T":{"columns":{"name":{"type":"string"}},"isRoot":true}}}' > schema
new() { openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$1.key" -subj "/CN=$1" "${@:2}" 2>/dev/null; }
new authority -x509 -days 2 -out authority.crt
sign() { # name, extended key usage
  new "$1" -out "$1.csr"
  openssl x509 -req -in "$1.csr" -CA authority.crt -CAkey authority.key -CAcreateserial -days 2 -extfile <(echo "extendedKeyUsage=$2") -out "$1.crt" 2>/dev/null
}
sign member serverAuth,clientAuth
sign client clientAuth

start() { # name, of whose key
  "$server" -vconsole:off -vsyslog:off -vfile:off --unixctl="$dir/$1.ctl" --remote="punix:$dir/$1.sock" \
    --private-key="$2.key" --certificate="$2.crt" --ca-cert=authority.crt "$1.db" &
  pids+=($!)
}
"$tool" create-cluster one.db schema ssl:127.91.7.1:26644
start one member
"$tool" join-cluster two.db D ssl:127.91.7.2:26644 ssl:127.91.7.1:26644
start two client
appctl=$(find root -name ovs-appctl -type f)
for _ in $(seq 60); do
  if "$appctl" -t "$dir/one.ctl" cluster/status D 2>/dev/null | grep -q 'at ssl:127.91.7.2'; then
    echo 'joined: a certificate for clients alone'
    exit 0
  fi
  sleep 0.5
done
echo 'refused: this finding no longer holds' >&2
exit 1
