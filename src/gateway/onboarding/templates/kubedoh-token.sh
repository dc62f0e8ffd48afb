#!/bin/sh
# Prints a client token of ${origin} for the identity of a CI job,
# which needs no secret: that in KUBEDOH_JWT, else that of GitHub's runner. Needs curl.
set -eu
field() { tr -d ' \n' | sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"; }
send() { curl -sS --max-time 20 "$@"; }
if [ -z "${KUBEDOH_JWT:-}" ]; then
  : "${ACTIONS_ID_TOKEN_REQUEST_URL:?The job needs "permissions: { id-token: write }", or KUBEDOH_JWT}"
  # Other users may list arguments, so secrets come by standard input.
  reply=$(send -G --data-urlencode 'audience=${audience}' -H @- "$ACTIONS_ID_TOKEN_REQUEST_URL" <<END
Authorization: Bearer $ACTIONS_ID_TOKEN_REQUEST_TOKEN
END
  )
  KUBEDOH_JWT=$(printf '%s' "$reply" | field value)
fi
type=urn:ietf:params:oauth
reply=$(printf '%s' "$KUBEDOH_JWT" | send -d grant_type=$type:grant-type:token-exchange \
  -d subject_token_type=$type:token-type:jwt --data-urlencode subject_token@- ${origin}/v1/token)
token=$(printf '%s' "$reply" | field access_token)
if [ -z "$token" ]; then
  echo "No token from ${origin} for this job: $reply" >&2
  exit 1
fi
printf '%s\n' "$token"
