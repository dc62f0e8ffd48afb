/**
 * The servers that benchmarks of the gateway ask, each in a process of its own.
 * @module
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import type { BuiltSnapshot } from '../src/cluster/follow/snapshot-builder.ts'
import { type ClusterKeys, createClusterKeys } from '../src/exporter/cluster-keys.ts'
import { createGatewayClient } from '../src/exporter/gateway-client.ts'
import { Publisher } from '../src/exporter/publisher.ts'
import { hashToken } from '../src/gateway/access/token.ts'
import type { GatewayVariables } from '../src/gateway/config/config.ts'
import { importPrivateKey } from '../src/snapshot/format/signature.ts'
import { SERVER } from '../test/certificates.ts'
import { fill, nginxArgs, recipeOf, Workshop } from '../test/clients/fronts/recipes.ts'
import { freePort } from '../test/free-port.ts'
import { BUN, type OtherRuntime } from '../test/runtimes.ts'
import { OWN_BUILD } from './against/commit.ts'
import { BUNDLES } from './places.ts'
import { DNSDIST_ARGS, formatDnsdist } from './server-processes.ts'

/** Of who may make tokens. */
export const ADMIN = 'the-operator-of-a-benchmark'
/** The cluster that is published. */
export const CLUSTER = 'bench'

/** The host of the certificate that fronts have. */
const FRONT = 'dns.example.org'

/** A server that runs. */
export type BenchServer = { readonly url: string; readonly pid: number; readonly stop: () => void }

/** A cluster's keys, and the variables of a gateway that takes it. */
export async function benchGatewayOf(): Promise<{
  readonly keys: ClusterKeys
  readonly variables: GatewayVariables & { readonly COREFILE: string }
}> {
  const keys = await createClusterKeys()
  const { publicKey, tokenSha256 } = keys
  return {
    keys,
    variables: {
      COREFILE: `. {\n  errors\n  kubernetes cluster.local {\n    cluster ${CLUSTER}\n  }\n}\n`,
      CLUSTERS: JSON.stringify({ [CLUSTER]: { publicKey, tokenSha256 } }),
      ADMIN_TOKEN_SHA256: await hashToken(ADMIN),
      REQUESTS_PER_MINUTE: '0',
      // Nobody confirms the names while it is measured, and what is stale is answered at length.
      STALE_SECONDS: '3600',
    },
  }
}

/** Has a gateway make a token that sees some namespaces. */
export async function tokenFrom(url: string, namespaces: readonly string[]): Promise<string> {
  const response = await fetch(`${url}/v1/tokens`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN}` },
    body: JSON.stringify({ namespaces }),
  })
  const { token } = JSON.parse(await response.text())
  return String(token)
}

/** Publishes a snapshot. */
export async function publishTo(
  url: string,
  keys: ClusterKeys,
  built: BuiltSnapshot,
): Promise<void> {
  const publisher = await publisherTo(url, keys)
  await publisher.publish(built, { sources: {}, confirmedMs: Date.now() })
}

/** Returns what publishes a cluster. */
export async function publisherTo(
  url: string,
  { token, signingKey }: ClusterKeys,
  more: { readonly cluster?: string; readonly fetch?: typeof fetch } = {},
): Promise<Publisher> {
  const key = await importPrivateKey(signingKey)
  if (key === undefined) throw new TypeError('Not a key')
  const { cluster = CLUSTER } = more
  const gateway = createGatewayClient({ url, token, ...more, cluster })
  return new Publisher({ cluster, gateway, key, now: Date.now })
}

/**
 * Starts `kubedoh gateway`, over TLS or in the clear, on Node or another runtime, from a
 * bundle.
 */
export function startOurs(
  { COREFILE, ...variables }: GatewayVariables & { readonly COREFILE: string },
  isSecure: boolean,
  {
    runtime,
    entry = OWN_BUILD.entry,
    more = [],
  }: {
    /** Node by default. */
    readonly runtime?: OtherRuntime
    readonly entry?: string
    /** Further flags. */
    readonly more?: readonly string[]
  } = {},
): Promise<BenchServer> {
  const folder = benchFolder({ Corefile: COREFILE })
  const tls = isSecure ? ['--tls-cert', join(folder, 'cert'), '--tls-key', join(folder, 'key')] : []
  const flags = ['--conf', join(folder, 'Corefile'), '--listen', '127.0.0.1:0', ...tls, ...more]
  const args = [...(runtime?.args ?? []), entry, 'gateway', ...flags]
  return startProcess(runtime?.command ?? process.execPath, args, {
    folder,
    variables,
    ready: /(https?:\S+)\/dns-query/,
  })
}

/** Starts a server with a fixed response: `node:http`, or over TLS `node:http2` or `Bun.serve`. */
export async function startBare(
  name: 'bare-http1' | 'bare-http2' | 'bare-bun',
): Promise<BenchServer> {
  const folder = benchFolder({})
  const script = join(BUNDLES, `${name}.js`)
  const args = [script, join(folder, 'cert'), join(folder, 'key')]
  const command = name === 'bare-bun' ? BUN.command : process.execPath
  const server = await startProcess(command, args, { folder, ready: /^ready: (\d+)/ })
  const scheme = name === 'bare-http1' ? 'http' : 'https'
  return { ...server, url: `${scheme}://127.0.0.1:${server.url}` }
}

/** Starts CoreDNS with some names: over HTTPS, over HTTP for a proxy, and over plain DNS. */
export async function startCoreDns(
  binary: string,
  hosts: string,
): Promise<BenchServer & { readonly plainPort: number; readonly dnsPort: number }> {
  const [port, plainPort, dnsPort] = [await freePort(), await freePort(), await freePort()]
  const folder = benchFolder({ hosts })
  const block = `bind 127.0.0.1\n  hosts ${join(folder, 'hosts')}`
  const corefile = `https://.:${port} {
  tls ${join(folder, 'cert')} ${join(folder, 'key')}
  ${block}
}
https://.:${plainPort} {
  ${block}
}
.:${dnsPort} {
  ${block}
}
`
  writeFileSync(join(folder, 'Corefile'), corefile)
  const args = ['-conf', join(folder, 'Corefile')]
  const server = await startProcess(binary, args, { folder, ready: /(CoreDNS-)/ })
  return { ...server, url: `https://127.0.0.1:${port}`, plainPort, dnsPort }
}

/** Starts dnsdist, which answers over HTTPS from its packet cache what a server of DNS has. */
export async function startDnsdist(upstream: number): Promise<BenchServer> {
  const shop = new Workshop()
  const port = await freePort()
  const [cert, key] = [`${shop.folder}/${FRONT}.pem`, `${shop.folder}/${FRONT}.key`]
  const files = { port, plainPort: await freePort(), upstream, cert, key }
  const conf = shop.write('dnsdist.conf', formatDnsdist(files))
  const { child } = await shop.run(['dnsdist', ...DNSDIST_ARGS, conf], port)
  const stop = (): void => void shop.stop()
  return { url: `https://127.0.0.1:${port}`, pid: child.pid ?? 0, stop }
}

/** Starts nginx before a server of HTTP on a port, as docs/fronts.md configures it. */
export async function startNginx(behind: number): Promise<BenchServer> {
  const shop = new Workshop()
  const port = await freePort()
  const conf = fill(recipeOf('nginx', 'nginx'), {
    '127.0.0.1:8787': `127.0.0.1:${behind}`,
    '0.0.0.0:443': `127.0.0.1:${port}`,
    [`/etc/ssl/${FRONT}.pem`]: `${shop.folder}/${FRONT}.pem`,
    [`/etc/ssl/${FRONT}.key`]: `${shop.folder}/${FRONT}.key`,
    // By default, nginx ends a client's connection after 1,000 requests; a load sends 2,500 on
    // each.
    'access_log off;': 'access_log off; keepalive_requests 1000000;',
  })
  const args = nginxArgs(shop.write('nginx.conf', conf), shop.folder)
  const { child } = await shop.run(['nginx', ...args], port)
  const stop = (): void => void shop.stop()
  return { url: `https://127.0.0.1:${port}`, pid: child.pid ?? 0, stop }
}

function benchFolder(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'kubedoh-bench-'))
  for (const [name, text] of Object.entries({ ...SERVER, ...files })) {
    writeFileSync(join(folder, name), text)
  }
  return folder
}

function startProcess(
  command: string,
  args: readonly string[],
  options: {
    readonly folder: string
    readonly ready: RegExp
    readonly variables?: Readonly<Record<string, string | undefined>>
  },
): Promise<BenchServer> {
  const { folder, ready, variables } = options
  const env = { ...process.env, ...variables, GOMAXPROCS: '1' }
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const stop = (): void => {
    child.kill('SIGTERM')
    rmSync(folder, { recursive: true, force: true })
  }
  return new Promise((resolve, reject) => {
    child.once('exit', () => {
      reject(new Error(`${command} ended`))
    })
    onLine(child, (line) => {
      const [, url] = ready.exec(line) ?? []
      if (url !== undefined) resolve({ url, pid: child.pid ?? 0, stop })
    })
  })
}

function onLine({ stdout }: ChildProcess, take: (line: string) => void): void {
  if (stdout instanceof Readable) createInterface(stdout).on('line', take)
}
