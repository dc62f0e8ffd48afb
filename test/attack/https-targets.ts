/**
 * Attack targets that serve DNS over HTTPS, with their quiet clients.
 * @module
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createClusterKeys } from '../../src/exporter/cluster-keys.ts'
import { hashToken } from '../../src/gateway/access/token.ts'
import { AUTHORITY, SERVER } from '../certificates.ts'
import { freePort } from '../free-port.ts'
import { startWithTwin, type Target } from './harness.ts'
import type { Attacked } from './https-rows.ts'
import { type Program, startProgram } from './program.ts'
import type { Probe } from './quiet-client.ts'
import { clusterObjects, NAME } from './target-cluster.ts'
import { query } from './wire.ts'

/** A program with its quiet client, and how to attack it. */
export type HttpsTarget = { readonly target: Target; readonly attacked: Attacked }

const run = promisify(execFile)
/** What `bin/kubedoh` would run. */
const RUN = process.env.KUBEDOH_ENTRY ?? join(import.meta.dirname, '../../src/cli/run.ts')
const KUBEDOH = join(import.meta.dirname, '../../bin/kubedoh')
const ADMIN = 'the-operator-of-these-attacks'
/** The limits of the chart: `server.resources`, `gateway.resources`. */
export const SERVER_MIB = 256
const GATEWAY_MIB = 512
const WARM_UP_REQUESTS = { attacked: 4000, twin: 1000 }
/** Connections at a time: as many handshakes as a busy server has in flight. */
const WARM_UP_CONNECTIONS = 200

/** A running program, and the credentials of the quiet client and the attackers. */
export type Served = {
  readonly program: Program
  readonly attacked: Attacked
  readonly headers: Readonly<Record<string, string>>
}

/**
 * Starts a program and its twin.
 * @param folder the folder for their files
 * @param start starts one with files in a folder of its own
 */
export async function startHttpsTarget(
  folder: string,
  start: (folder: string) => Promise<Served>,
  probesOf: (probe: Omit<Probe, 'kind'>) => readonly Probe[] = probesOfEach,
): Promise<HttpsTarget> {
  const { target, one } = await startWithTwin(async () => {
    const served = await start(mkdtempSync(join(folder, 'one-')))
    const { attacked, headers } = served
    const { port, name } = attacked
    return { ...served, probes: probesOf({ port, name, headers, perSecond: 20 }) }
  }, warmUp)
  return { target, attacked: one.attacked }
}

function probesOfEach(probe: Omit<Probe, 'kind'>): Probe[] {
  return [
    { ...probe, kind: 'https' },
    { ...probe, kind: 'h2' },
  ]
}

/** Starts `kubedoh serve` with an `https://` block. */
export async function startServe(folder: string): Promise<Served> {
  const port = await freePort()
  const options = 'bind 127.0.0.1\n  tls cert.pem key.pem\n  kubernetes cluster.local\n'
  const program = await runServe(folder, `https://.:${port} {\n  ${options}}\n`)
  return { program, attacked: { port, name: NAME, token: '' }, headers: {} }
}

/** Starts `kubedoh serve` with a cluster and a Corefile, beside `cert.pem` and `key.pem`. */
export function runServe(folder: string, corefile: string): Promise<Program> {
  const { conf, objects } = writeFiles(folder)
  writeFileSync(conf, corefile)
  const args = ['serve', '--conf', conf, '--objects', objects]
  return startProgram(args, { ready: /^ready/, memoryMib: SERVER_MIB })
}

/** How to start a gateway. */
type GatewayOptions = {
  /** The command to run (default: `bin/kubedoh`). */
  readonly command?: readonly string[]
  /** Number of further Services. */
  readonly more?: number
  readonly flags?: readonly string[]
  readonly variables?: Readonly<Record<string, string>>
}

/**
 * Starts `kubedoh gateway` over TLS with a cluster and two tokens: the quiet client's and the
 * attackers'.
 */
export async function startGateway(
  folder: string,
  { command, more = 0, flags = [], variables = {} }: GatewayOptions = {},
): Promise<Served> {
  const port = await freePort()
  const files = writeFiles(folder, more)
  writeFileSync(files.conf, '. {\n  kubernetes cluster.local {\n    cluster demo\n  }\n}\n')
  const { token, signingKey, publicKey, tokenSha256 } = await createClusterKeys()
  const tls = ['--tls-cert', files.cert, '--tls-key', files.key]
  const where = ['--listen', `127.0.0.1:${port}`, '--store', `file:${join(folder, 'store')}`]
  const program = await startProgram(
    ['gateway', '--conf', files.conf, ...where, ...tls, ...flags],
    {
      ...(command !== undefined && { command: [...command, RUN] }),
      environment: {
        CLUSTERS: JSON.stringify({ demo: { publicKey, tokenSha256 } }),
        ADMIN_TOKEN_SHA256: await hashToken(ADMIN),
        REQUESTS_PER_MINUTE: '0',
        ...variables,
      },
      ready: /^ready/,
      memoryMib: GATEWAY_MIB,
    },
  )
  const cluster = ['--gateway', `https://127.0.0.1:${port}`, '--cluster', 'demo']
  const args = ['export', ...cluster, '--objects', files.objects, '--once']
  const environment = { NODE_EXTRA_CA_CERTS: files.authority, KUBEDOH_TOKEN: token }
  await run(KUBEDOH, args, {
    env: { ...process.env, ...environment, KUBEDOH_SIGNING_KEY: signingKey },
  })
  const [quiet, attacker] = [await createToken(port), await createToken(port)]
  const headers = { authorization: `Bearer ${quiet}` }
  return { program, attacked: { port, name: NAME, token: attacker }, headers }
}

type Files = Readonly<Record<'conf' | 'objects' | 'cert' | 'key' | 'authority', string>>

function writeFiles(folder: string, more = 0): Files {
  const write = (name: string, content: string): string => {
    const path = join(folder, name)
    writeFileSync(path, content)
    return path
  }
  return {
    conf: join(folder, 'Corefile'),
    objects: write('objects.yaml', clusterObjects(more)),
    cert: write('cert.pem', SERVER.cert),
    key: write('key.pem', SERVER.key),
    authority: write('authority.pem', AUTHORITY),
  }
}

/** Creates a token that sees every name, at a gateway of {@link startGateway}. */
export async function createToken(port: number): Promise<string> {
  const headers = { authorization: `Bearer ${ADMIN}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ namespaces: ['*'], explain: true })
  const { text } = await send({ port, path: '/v1/tokens', headers, body })
  const { token }: { readonly token?: string } = JSON.parse(text)
  assert.ok(token !== undefined, text)
  return token
}

/** Sends queries on separate connections until the code is compiled and the heap is in use. */
export async function warmUp(
  { attacked: { port }, headers }: Served,
  isTwin: boolean,
): Promise<void> {
  const requests = isTwin ? WARM_UP_REQUESTS.twin : WARM_UP_REQUESTS.attacked
  const type = { 'content-type': 'application/dns-message' }
  for (let i = 0; i < requests; i += WARM_UP_CONNECTIONS) {
    const body = query({ name: NAME })
    const asked = { port, path: '/dns-query', headers: { ...headers, ...type }, body }
    await Promise.all(Array.from({ length: WARM_UP_CONNECTIONS }, () => send(asked)))
  }
}

type Sent = {
  readonly port: number
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Buffer
}

function send({ port, path, headers, body }: Sent): Promise<{ readonly text: string }> {
  return new Promise((resolve, reject) => {
    const where = { host: '127.0.0.1', port, path, method: 'POST', headers }
    const sent = request({ ...where, rejectUnauthorized: false, agent: false })
    sent.on('error', reject)
    sent.on('response', (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => resolve({ text: Buffer.concat(chunks).toString() }))
    })
    sent.end(body)
  })
}
