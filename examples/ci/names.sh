#!/bin/sh
# Prints the data of a name's records: names.sh NAME [TYPE]. Fails when there are none.
# Without KUBEDOH_TOKEN it takes the job's identity: of GitHub Actions, or KUBEDOH_JWT.
set -eu
value() { tr ',' '\n' | sed -n "s/.*\"$1\": *\"\([^\"]*\)\".*/\1/p"; }
if [ -z "${KUBEDOH_TOKEN:-}" ] && [ -n "${ACTIONS_ID_TOKEN_REQUEST_URL:-}" ]; then
  KUBEDOH_JWT=$(curl -fsS --max-time 10 -H "Authorization: Bearer $ACTIONS_ID_TOKEN_REQUEST_TOKEN" \
    "$ACTIONS_ID_TOKEN_REQUEST_URL&audience=kubedoh" | value value)
fi
json=$(curl -fsS --max-time 10 -H "Authorization: Bearer ${KUBEDOH_TOKEN:-$KUBEDOH_JWT}" \
  "$KUBEDOH_GATEWAY/resolve?name=$1&type=${2:-A}")
printf '%s\n' "$json" | tr '{' '\n' | sed -n 's/.*"data":"\([^"]*\)".*/\1/p' | grep .
