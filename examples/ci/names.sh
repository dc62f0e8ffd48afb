#!/bin/sh
# Prints the data of a name's records: names.sh NAME [TYPE]. Fails when there are none.
set -eu
json=$(curl -fsS --max-time 10 -H "Authorization: Bearer $KUBEDOH_TOKEN" \
  "$KUBEDOH_GATEWAY/resolve?name=$1&type=${2:-A}")
printf '%s\n' "$json" | tr '{' '\n' | sed -n 's/.*"data":"\([^"]*\)".*/\1/p' | grep .
