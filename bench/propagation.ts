/**
 * How soon a change in a cluster is answered by a gateway in workerd: an exporter publishes as it
 * does, and a client asks.
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { nameOf } from '../src/dns/names/name.ts'
import { TYPE } from '../src/dns/names/rr-type.ts'
import { Metrics } from '../src/dns/telemetry/metrics.ts'
import { writeQuery } from '../src/dns/wire/write-query.ts'
import { Exporter } from '../src/exporter/exporter.ts'
import { createGatewayClient } from '../src/exporter/gateway-client.ts'
import { Publisher } from '../src/exporter/publisher.ts'
import { importPrivateKey } from '../src/snapshot/format/signature.ts'
import { type LocalGateway, startGateway } from '../test/workerd.ts'
import type { FollowedCluster } from './followed-cluster.ts'
import { benchGatewayOf, CLUSTER, tokenFrom } from './gateway-servers.ts'
import { type Row, row } from './row.ts'

const CHANGES = process.env.BENCH_QUICK === '1' ? 100 : 1000
/** Time between two changes. */
const PACE_MS = 60
const POLL_MS = 40
const WAIT_MS = 30_000

/** Measures. */
export async function propagationRows(cluster: FollowedCluster): Promise<Row[]> {
  const start = (variables: Variables): Promise<LocalGateway> =>
    startGateway({ port: 0, variables })
  const times = await propagationMs(cluster, { changes: CHANGES, start })
  const sorted = times.toSorted((a, b) => a - b)
  const at = (part: number): number => sorted[Math.ceil(part * sorted.length) - 1] ?? Number.NaN
  const name = `change → answered, ${CHANGES} changes`
  return [
    row('gateway', `${name}, median`, 'ms', at(0.5)),
    row('gateway', `${name}, p99`, 'ms', at(0.99), { atMost: 1000 }),
  ]
}

type Variables = Readonly<Record<string, string>>

/**
 * Has an exporter publish changes to a gateway; returns how long each took until it was
 * answered.
 */
export async function propagationMs(
  cluster: FollowedCluster,
  {
    changes,
    start,
  }: {
    readonly changes: number
    readonly start: (variables: Variables) => Promise<LocalGateway>
  },
): Promise<number[]> {
  const { keys, variables } = await benchGatewayOf()
  const gateway = await start(variables)
  const key = await importPrivateKey(keys.signingKey)
  if (key === undefined) throw new TypeError('Not a key')
  const client = createGatewayClient({ url: gateway.url, cluster: CLUSTER, token: keys.token })
  const ended = new AbortController()
  const exporter = new Exporter({
    source: {
      build: () => cluster.build(),
      sources: () => ({}),
      confirmedMs: Date.now,
      states: () => [],
      acknowledged: () => undefined,
      run: () => Promise.resolve(),
    },
    publisher: new Publisher({ cluster: CLUSTER, gateway: client, key, now: Date.now }),
    metrics: new Metrics(),
    onPublished: () => undefined,
    onError: (message) => process.stderr.write(`${message}\n`),
    intervalMs: 200,
    confirmMs: 15_000,
    sleep: async (ms, signal) => sleep(ms, undefined, { signal }).catch(() => undefined),
    random: Math.random,
    now: Date.now,
    elapsed: () => performance.now(),
  })
  const running = exporter.run(ended.signal)
  exporter.mark()
  while (!exporter.isReady) await sleep(POLL_MS)
  const token = await tokenFrom(gateway.url, ['*'])
  const askFor = (message: Uint8Array): Promise<Uint8Array> => ask(gateway.url, token, message)
  const times = await follow(cluster, exporter, { changes, askFor })
  ended.abort()
  await running
  await gateway.stop()
  return times
}

/** Adds an endpoint to one Service after the other, and asks for each until its change is there. */
async function follow(
  cluster: FollowedCluster,
  exporter: Exporter,
  {
    changes,
    askFor,
  }: {
    readonly changes: number
    readonly askFor: (message: Uint8Array) => Promise<Uint8Array>
  },
): Promise<number[]> {
  const services = cluster.services.filter(({ isHeadless }) => isHeadless)
  const waits = []
  for (let i = 0; i < changes; i++) {
    const service = services[i % services.length]
    if (service === undefined) break
    const address = `10.250.${(i >>> 8) & 255}.${i & 255}`
    const hostname = `changed-${i}`
    const endpoints = [...service.endpoints, { addresses: [address, 'fd00::1'], hostname }]
    cluster.setSlices({ ...service, endpoints })
    exporter.mark()
    const text = `${hostname}.${service.name}.${service.namespace}.svc.cluster.local`
    const message = writeQuery({ name: nameOf(text), type: TYPE.A })
    waits.push(until(async () => ((await askFor(message))[7] ?? 0) > 0))
    await sleep(PACE_MS)
  }
  return Promise.all(waits)
}

async function until(holds: () => Promise<boolean>): Promise<number> {
  const startMs = performance.now()
  while (!(await holds())) {
    if (performance.now() - startMs > WAIT_MS) throw new Error('A change was never answered')
    await sleep(POLL_MS)
  }
  return performance.now() - startMs
}

async function ask(url: string, token: string, message: Uint8Array): Promise<Uint8Array> {
  const response = await fetch(`${url}/dns-query`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/dns-message' },
    body: new Uint8Array(message),
  })
  return new Uint8Array(await response.arrayBuffer())
}
