/**
 * The kit's files for CI jobs, containers and programs. None contains the token: all read it from
 * the variable `KUBEDOH_CLIENT_TOKEN`.
 * @module
 */

import { VERSION } from '../../dns/telemetry/version.ts'
import type { Kit, KitFile } from './kit-file.ts'

const JSON_TYPE = 'application/json'
const INSTALL = `npm install --global kubedoh@${VERSION}`

/** Returns the files for CI jobs, containers, and programs in Go, JavaScript, Python and shell. */
export function programFiles(kit: Kit): readonly KitFile[] {
  const plain = (name: string, text: string): KitFile => ({ name, type: 'text/plain', text })
  return [
    plain('kubedoh-dns.sh', formatDnsScript(kit)),
    plain('action.yml', formatAction(kit)),
    plain('Dockerfile', DOCKERFILE),
    { name: 'devcontainer.json', type: JSON_TYPE, text: DEVCONTAINER },
    plain('curl.sh', formatCurl(kit)),
    plain('node.mjs', formatNode(kit)),
    plain('python.py', formatPython(kit)),
    plain('main.go', formatGo(kit)),
  ]
}

/** glibc and musl try the next server of resolv.conf after REFUSED. */
function formatDnsScript({ domains, origin }: Kit): string {
  const flags = domains.map((domain) => `--domain ${domain}`).join(' ')
  return `#!/bin/sh
# Resolves ${domains.join(', ')} by ${origin} on this machine or in this
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
  printf 'nameserver 127.0.0.1\\n%s\\n' "$servers" >/etc/resolv.conf
fi
if [ $# -gt 0 ]; then exec "$@"; fi
`
}

function formatAction({ domains, origin }: Kit): string {
  return `name: kubedoh
description: Resolves ${domains.join(', ')} by ${origin}
inputs:
  token:
    description: client token of the gateway, from a secret
    required: true
runs:
  using: composite
  steps:
    - shell: sh
      run: ${INSTALL}
    - shell: sh
      run: sudo -E env "PATH=$PATH" sh "$GITHUB_ACTION_PATH/kubedoh-dns.sh"
      env:
        KUBEDOH_CLIENT_TOKEN: \${{ inputs.token }}
`
}

const DOCKERFILE = `# docker build -t here . && docker run --rm -it -e KUBEDOH_CLIENT_TOKEN here getent hosts NAME
FROM node:26-slim
RUN ${INSTALL}
COPY kubedoh-dns.sh /usr/local/bin/
ENTRYPOINT ["sh", "/usr/local/bin/kubedoh-dns.sh"]
CMD ["bash"]
`

const DEVCONTAINER = `{
  "build": { "dockerfile": "Dockerfile" },
  "containerUser": "root",
  "containerEnv": { "KUBEDOH_CLIENT_TOKEN": "\${localEnv:KUBEDOH_CLIENT_TOKEN}" },
  "postStartCommand": "sh /usr/local/bin/kubedoh-dns.sh"
}
`

function formatCurl({ origin }: Kit): string {
  const server = `${origin.replace('://', '://x:$KUBEDOH_CLIENT_TOKEN@')}/dns-query`
  return `#!/bin/sh
# Requests a URL whose host the gateway resolves: sh curl.sh http://NAME/
exec curl -sS -K /dev/fd/3 "$@" 3<<END
doh-url = "${server}"
END
`
}

function formatNode({ origin }: Kit): string {
  return `// Requests a URL whose host the gateway resolves: node node.mjs http://NAME/
import { get } from 'node:http'

async function addressesOf(name) {
  const query = new URL(\`/resolve?name=\${encodeURIComponent(name)}&type=A\`, '${origin}')
  const headers = { authorization: \`Bearer \${process.env.KUBEDOH_CLIENT_TOKEN}\` }
  const response = await fetch(query, { headers })
  if (!response.ok) throw new Error(\`HTTP \${response.status} of the gateway\`)
  const { Answer = [] } = await response.json()
  return Answer.filter(({ type }) => type === 1).map(({ data }) => ({ address: data, family: 4 }))
}

/** In place of dns.lookup, for http.get, https.get and net.connect. */
function lookup(hostname, { all }, callback) {
  addressesOf(hostname).then((found) => {
    const [first] = found
    if (first === undefined) callback(new Error(\`\${hostname} has no address\`))
    else if (all) callback(null, found)
    else callback(null, first.address, first.family)
  }, callback)
}

get(process.argv[2], { lookup }, (response) => response.pipe(process.stdout))
`
}

function formatPython({ domains, origin }: Kit): string {
  const suffixes = domains.map((domain) => `".${domain}"`).join(', ')
  return `"""Requests a URL, its host resolved by the gateway: python3 python.py http://NAME/"""
import json
import os
import socket
import sys
import urllib.parse
import urllib.request

DOMAINS = tuple([${suffixes}])
system = socket.getaddrinfo


def getaddrinfo(host, *args, **options):
    if isinstance(host, str) and f".{host}".endswith(DOMAINS):
        query = urllib.parse.urlencode({"name": host, "type": "A"})
        token = os.environ.get("KUBEDOH_CLIENT_TOKEN", "")
        headers = {"authorization": f"Bearer {token}"}
        request = urllib.request.Request(f"${origin}/resolve?{query}", headers=headers)
        with urllib.request.urlopen(request) as response:
            answer = json.load(response).get("Answer", [])
        host = next((record["data"] for record in answer if record["type"] == 1), host)
    return system(host, *args, **options)


socket.getaddrinfo = getaddrinfo
with urllib.request.urlopen(sys.argv[1]) as page:
    sys.stdout.buffer.write(page.read())
`
}

function formatGo({ origin }: Kit): string {
  return `// Requests a URL whose host the gateway resolves: go run main.go http://NAME/
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"os"
)

func resolve(ctx context.Context, name string) (string, error) {
	query := url.Values{"name": {name}, "type": {"A"}}
	request, err := http.NewRequestWithContext(ctx, "GET", "${origin}/resolve?"+query.Encode(), nil)
	if err != nil {
		return "", err
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("KUBEDOH_CLIENT_TOKEN"))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return "", fmt.Errorf("HTTP %d of the gateway", response.StatusCode)
	}
	var reply struct {
		Answer []struct {
			Type int
			Data string
		}
	}
	if err := json.NewDecoder(response.Body).Decode(&reply); err != nil {
		return "", err
	}
	for _, record := range reply.Answer {
		if record.Type == 1 {
			return record.Data, nil
		}
	}
	return "", fmt.Errorf("%s has no address", name)
}

func dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	ip, err := resolve(ctx, host)
	if err != nil {
		return nil, err
	}
	var dialer net.Dialer
	return dialer.DialContext(ctx, network, net.JoinHostPort(ip, port))
}

func main() {
	client := http.Client{Transport: &http.Transport{DialContext: dial}}
	response, err := client.Get(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	if _, err := io.Copy(os.Stdout, response.Body); err != nil {
		log.Fatal(err)
	}
}
`
}
