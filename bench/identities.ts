/**
 * Tokens of issuers: what a request with one in exchange costs beside one of the gateway's own
 * list, what the exchange costs, and how soon a revoked client is refused everywhere.
 * @module
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import type { BuiltSnapshot } from '../src/cluster/follow/snapshot-builder.ts'
import { nameOf } from '../src/dns/names/name.ts'
import { TYPE } from '../src/dns/names/rr-type.ts'
import { writeQuery } from '../src/dns/wire/write-query.ts'
import { hashToken } from '../src/gateway/access/token.ts'
import type { GatewayVariables } from '../src/gateway/config/config.ts'
import { generateKeyPair as signingKeys } from '../src/snapshot/format/signature.ts'
import { startGateway } from '../test/workerd.ts'
import { FollowedCluster } from './followed-cluster.ts'
import { type Asking, costOf, cpuUs, prepareLoad } from './gateway-load.ts'
import { ADMIN, benchGatewayOf, publishTo, startOurs, tokenFrom } from './gateway-servers.ts'
import { median, quotientRow, type Row, row } from './row.ts'

const IS_QUICK = process.env.BENCH_QUICK === '1'
const RECORDS = 10_000
/** Few at a time, in many rounds: what disturbs the machine then disturbs both tokens. */
const REQUESTS = 4000
const QUESTIONS = 256
const ROUNDS = IS_QUICK ? 11 : 41
/** Rounds of each token that are not counted. */
const WARM_UP_ROUNDS = 8
const EXCHANGES = IS_QUICK ? 500 : 2000
const REVOCATIONS = IS_QUICK ? 5 : 20
const REPLICA = 'the-replica-of-a-benchmark'
/** Between two requests with a token that was revoked. */
const POLL_MS = 20
const GRANT = 'urn:ietf:params:oauth:grant-type:token-exchange'
const JWT = 'urn:ietf:params:oauth:token-type:jwt'

/** An issuer on this machine. */
type BenchIssuer = {
  readonly url: string
  readonly port: number
  readonly sign: (sub: string) => Promise<string>
  readonly stop: () => void
}

/** Measures. */
export async function benchIdentities(): Promise<Row[]> {
  const missing = prepareLoad()
  if (missing !== undefined) throw new Error(missing)
  const cluster = new FollowedCluster(RECORDS)
  const built = cluster.build()
  const names = cluster.services.filter(({ isHeadless }) => !isHeadless).slice(0, QUESTIONS)
  const messages = names.map(({ name, namespace }) =>
    writeQuery({ name: nameOf(`${name}.${namespace}.svc.cluster.local`), type: TYPE.A }),
  )
  const namespaces = [...new Set(names.map(({ namespace }) => namespace))].slice(0, 90)
  const issuer = await startIssuer()
  try {
    return [
      ...(await workerRows(issuer, { built, messages, namespaces })),
      ...(await nodeRows(issuer, { built, messages, namespaces })),
    ]
  } finally {
    issuer.stop()
  }
}

type Load = {
  readonly built: BuiltSnapshot
  readonly messages: readonly Uint8Array[]
  readonly namespaces: readonly string[]
}

async function workerRows(issuer: BenchIssuer, load: Load): Promise<Row[]> {
  const { keys, variables } = await gatewayFor(issuer, load.namespaces)
  const gateway = await startGateway({ port: 0, variables, outboundPort: issuer.port })
  await publishTo(gateway.url, keys, load.built)
  const known = await knownRow('in workerd', gateway, issuer, load)
  const exchange = await exchangeMs(gateway, issuer)
  const name = 'exchange of an RS256 token, keys in memory: CPU in workerd'
  const replicas = await Promise.all([1, 2].map(() => startReplica(variables, gateway.url)))
  const revoked = await revocationMs([gateway, ...replicas], issuer)
  for (const replica of replicas) replica.stop()
  await gateway.stop()
  const everywhere = 'a subject is revoked at a Worker → refused there and by two replicas, longest'
  return [
    known,
    row('identities', name, 'ms', exchange, { atMost: 2 }),
    row('identities', everywhere, 'ms', revoked, { atMost: 5000 }),
  ]
}

async function nodeRows(issuer: BenchIssuer, load: Load): Promise<Row[]> {
  const { keys, variables } = await gatewayFor(issuer, load.namespaces)
  const gateway = await startOurs(variables, false)
  await publishTo(gateway.url, keys, load.built)
  const known = await knownRow('on Node, HTTP/1.1', gateway, issuer, load)
  const exchange = await exchangeMs(gateway, issuer)
  gateway.stop()
  const name = 'exchange of an RS256 token, keys in memory: CPU on Node'
  return [known, row('identities', name, 'ms', exchange)]
}

async function gatewayFor(
  issuer: BenchIssuer,
  namespaces: readonly string[],
): Promise<Awaited<ReturnType<typeof benchGatewayOf>> & { readonly variables: Variables }> {
  const { keys, variables } = await benchGatewayOf()
  const rules = [{ when: { sub: 'job-*' }, namespaces }]
  const issuers = [{ issuer: issuer.url, audiences: ['kubedoh'], rules }]
  const { privateKey: EXCHANGE_KEY } = await signingKeys()
  const more = {
    ISSUERS: JSON.stringify(issuers),
    EXCHANGE_KEY,
    REPLICA_TOKEN_SHA256: await hashToken(REPLICA),
  }
  return { keys, variables: { ...variables, ...more } }
}

type Variables = GatewayVariables & Readonly<Record<string, string>> & { readonly COREFILE: string }

type Server = { readonly url: string; readonly pid: number }

/**
 * A request with a token in exchange, and one with a token of the list, in turn; the ratio is the
 * median of those of all rounds.
 */
async function knownRow(
  where: string,
  { url, pid }: Server,
  issuer: BenchIssuer,
  { messages, namespaces }: Load,
): Promise<Row> {
  const tokens = [
    await exchanged(url, await issuer.sign('job-0')),
    await tokenFrom(url, namespaces),
  ]
  const costs: number[][] = [[], []]
  for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round++) {
    for (const at of round % 2 === 0 ? [0, 1] : [1, 0]) {
      const headers = { authorization: `Bearer ${tokens[at]}` }
      const asking: Asking = { url, messages, method: 'GET', headers }
      const cost = await costOf(pid, asking, REQUESTS)
      if (round >= 0) costs[at]?.push(cost)
    }
  }
  const [exchangedUs = [], rounds = []] = costs
  const base = { bench: 'identities', metric: `GET with a token in exchange, CPU ${where}` }
  const peer = { name: 'with a token of the list', rounds }
  return quotientRow({ ...base, unit: 'µs' }, exchangedUs, peer, { atMost: 1.05 })
}

/** CPU time of an exchange, HTTP and all, each of another client, in milliseconds. */
async function exchangeMs({ url, pid }: Server, issuer: BenchIssuer): Promise<number> {
  const rounds = []
  for (let round = 0; round < 4; round++) {
    const tokens = await Promise.all(
      Array.from({ length: EXCHANGES }, (_, i) => issuer.sign(`job-${round}-${i}`)),
    )
    const beforeUs = cpuUs(pid)
    for (const token of tokens) await exchanged(url, token)
    rounds.push((cpuUs(pid) - beforeUs) / EXCHANGES / 1000)
  }
  // The first one is for compilers.
  return median(rounds.slice(1))
}

/** The longest time from a revocation at the first server until all refuse the client. */
async function revocationMs(servers: readonly Server[], issuer: BenchIssuer): Promise<number> {
  const [first] = servers
  const times = []
  for (let i = 0; i < REVOCATIONS; i++) {
    const sub = `job-revoked-${i}`
    const token = await exchanged(first?.url ?? '', await issuer.sign(sub))
    for (const { url } of servers) await until(url, token, 200)
    // A token of the same second was issued before the revocation.
    await sleep(1100)
    const startMs = performance.now()
    const response = await fetch(`${first?.url}/v1/tokens/revocations`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ADMIN}` },
      body: JSON.stringify({ subject: `${issuer.url} ${sub}` }),
    })
    if (response.status !== 201) throw new Error(`HTTP status ${response.status}`)
    await Promise.all(servers.map(({ url }) => until(url, token, 401)))
    times.push(performance.now() - startMs)
  }
  return Math.max(...times)
}

async function until(url: string, token: string, wanted: number): Promise<void> {
  const path = `${url}/resolve?name=none.svc.cluster.local`
  for (;;) {
    const response = await fetch(path, { headers: { authorization: `Bearer ${token}` } })
    await response.arrayBuffer()
    if (response.status === wanted) return
    await sleep(POLL_MS)
  }
}

async function exchanged(url: string, subject: string): Promise<string> {
  const body = new URLSearchParams({
    grant_type: GRANT,
    subject_token_type: JWT,
    subject_token: subject,
  })
  const response = await fetch(`${url}/v1/token`, { method: 'POST', body })
  const text = await response.text()
  if (response.status !== 200) throw new Error(`no exchange: ${response.status} ${text}`)
  const { access_token: token } = JSON.parse(text)
  return String(token)
}

function startReplica(variables: Variables, url: string): ReturnType<typeof startOurs> {
  const own = { ...variables, KUBEDOH_REPLICA_TOKEN: REPLICA }
  return startOurs(own, false, { more: ['--follow', url] })
}

async function startIssuer(): Promise<BenchIssuer> {
  const { publicKey, privateKey } = await generateKeyPair('RS256')
  const keys = [{ ...(await exportJWK(publicKey)), kid: 'one' }]
  let url = ''
  const server = createServer(({ url: path }, response) => {
    const discovery = { issuer: url, jwks_uri: `${url}/keys` }
    response.end(JSON.stringify(path === '/keys' ? { keys } : discovery))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0
  url = `http://127.0.0.1:${port}`
  const sign = (sub: string): Promise<string> =>
    new SignJWT({ sub, aud: 'kubedoh', iss: url })
      .setIssuedAt()
      .setExpirationTime('1h')
      .setProtectedHeader({ alg: 'RS256', kid: 'one' })
      .sign(privateKey)
  return { url, port, sign, stop: () => void server.close() }
}
