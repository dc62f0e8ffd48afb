/**
 * Answers of `kubedoh serve` over UDP, one kind of query after the other: CPU time of the process
 * for one, and the time from a query's bytes to its response's by the server's own metric.
 * @module
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../../test/free-port.ts'
import { apiObjects, generateServices } from '../cluster-objects.ts'
import { saturate } from '../dns-load.ts'
import { msUntilAnswered } from '../dns-probe.ts'
import { questionsTo } from '../generated-server.ts'
import { BUNDLES } from '../places.ts'
import type { NamedAddress } from '../server-cluster.ts'
import {
  type DnsProcess,
  pinToLoadCore,
  prepareProgram,
  startCorefile,
} from '../server-processes.ts'
import type { Build } from './commit.ts'
import type { Contest, Contestant, Costs } from './rounds.ts'

const SERVICES = 10_000
const QUESTIONS = 8192
const SECONDS = 1
const DURATION = /^coredns_dns_request_duration_seconds_(sum|count)\{.*\} (\S+)$/gm

/** A kind of query, and the file that dnsperf reads. */
type Kind = { readonly kind: string; readonly path: string }

/** Generates a cluster. */
export async function prepareCore(): Promise<Contest> {
  const missing = prepareProgram('dnsperf', 'dnsperf') ?? prepareProgram('taskset', 'util-linux')
  if (missing !== undefined) throw new Error(missing)
  pinToLoadCore()
  const services = [...generateServices(SERVICES)]
  const objects = join(BUNDLES, 'objects.json')
  const items = Array.from(apiObjects(services), (object) => JSON.stringify(object))
  writeFileSync(objects, `{"apiVersion":"v1","kind":"List","items":[${items.join(',\n')}]}`)
  const kinds = questionsTo(services, QUESTIONS).map(({ kind, texts }, i) => {
    const path = join(BUNDLES, `questions-${i}`)
    writeFileSync(path, texts.map((text) => `${text}\n`).join(''))
    return { kind, path }
  })
  const { name, namespace, clusterIPs } = services.find((one) => !one.isHeadless) ?? {}
  const [address = ''] = clusterIPs ?? []
  const first = { name: `${name}.${namespace}.svc.cluster.local`, address }
  return {
    start: (build) => startServer(build, { objects, kinds, first }),
    stop: () => Promise.resolve(),
  }
}

async function startServer(
  build: Build,
  {
    objects,
    kinds,
    first,
  }: { readonly objects: string; readonly kinds: readonly Kind[]; readonly first: NamedAddress },
): Promise<Contestant> {
  const metrics = await freePort()
  const corefile = `.:53 {
  bind 127.0.0.1
  errors
  kubernetes cluster.local in-addr.arpa ip6.arpa {
    pods insecure
    fallthrough in-addr.arpa ip6.arpa
    ttl 30
  }
  prometheus 127.0.0.1:${metrics}
  forward . 127.0.0.1:5300
  cache 30
  loadbalance
}
`
  const flags = ['--objects', objects]
  const server = await startCorefile({ name: build.name, build }, corefile, { flags })
  await msUntilAnswered(server.port, first)
  const phases = kinds.map((kind) => () => costsOf(server, kind, metrics))
  for (const phase of phases) await phase()
  return { pids: [server.pid], start: {}, phases, stop: server.stop }
}

async function costsOf(server: DnsProcess, { kind, path }: Kind, metrics: number): Promise<Costs> {
  const before = await durations(metrics)
  const { cpuUs } = await saturate(server, { queries: path, seconds: SECONDS })
  const after = await durations(metrics)
  const answerUs = (1e6 * (after.sum - before.sum)) / (after.count - before.count)
  return { [`${kind}, CPU time over UDP`]: cpuUs, [`${kind}, bytes to bytes`]: answerUs }
}

/** Reads how long all answers of a server took together. */
async function durations(port: number): Promise<{ readonly sum: number; readonly count: number }> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  const total = { sum: 0, count: 0 }
  for (const [, part, value] of text.matchAll(DURATION)) {
    total[part === 'sum' ? 'sum' : 'count'] += Number(value)
  }
  return total
}
