#!/bin/sh
# Resolves ${domains} by ${origin} on this machine or in this
# container, then runs a command if one is given. Needs root, kubedoh and KUBEDOH_CLIENT_TOKEN.
set -eu
log=$(mktemp)
how="--system none --listen 127.0.0.1:53"
if resolvectl status >/dev/null 2>&1; then how="--system linux"; fi
nohup kubedoh connect --gateway ${origin} ${flags} $how >"$log" 2>&1 &
until grep -q ^ready "$log"; do
  kill -0 $! 2>/dev/null || { cat "$log" >&2; exit 1; }
  sleep 0.1
done
# The server refuses other names, so the resolver asks the next nameserver.
if [ "$how" != "--system linux" ]; then
  # Docker keeps a changed file: without this, a third start would leave no other nameserver.
  servers=$(grep -vx 'nameserver 127.0.0.1' /etc/resolv.conf || true)
  printf 'nameserver 127.0.0.1\n%s\n' "$servers" >/etc/resolv.conf
fi
if [ $# -gt 0 ]; then exec "$@"; fi
