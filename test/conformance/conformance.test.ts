/**
 * What CoreDNS answered, asked again: of the resolver, over sockets, over HTTPS, and of the gateway in
 * workerd.
 * @module
 */
import { deepEqual } from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { caseQuery } from './case-query.ts'
import { differences } from './compare.ts'
import { type Case, readScenario, scenarioNames, writeScenarioFiles } from './scenario.ts'
import {
  openBothWays,
  openDohApp,
  openSockets,
  openWorker,
  type Place,
  type Transport,
} from './transports.ts'
import { startUpstream, type Upstream } from './upstream.ts'

type Way = {
  readonly name: string
  readonly open: (place: Place) => Transport | Promise<Transport>
  readonly isDoh: boolean
  /** Scenarios that this way is for; all when left out. */
  readonly only?: readonly string[]
}

/** Of what the gateway has all plugins, and no upstreams. */
const WORKER_SCENARIOS = ['kubernetes-default', 'kubernetes-dualstack']
const WAYS: readonly Way[] = [
  { name: 'the resolver, quickly and at length', open: openBothWays, isDoh: false },
  { name: 'sockets', open: openSockets, isDoh: false },
  { name: 'the app for HTTPS', open: openDohApp, isDoh: true },
  { name: 'workerd', open: openWorker, isDoh: true, only: WORKER_SCENARIOS },
]
/** What Corefiles name; keys come from a file. */
const NO_ETCD = 'http://127.0.0.1:2379'
/** Questions under way at one time, where their order does not matter. */
const CONCURRENCY = 16

for (const way of WAYS) {
  describe(`by ${way.name}, CoreDNS's answers`, () => {
    for (const name of way.only ?? scenarioNames()) {
      it(name, async () => {
        deepEqual(await failures(name, way), [])
      })
    }
  })
}

/** Lists what is wrong, at most ten cases. */
async function failures(name: string, { open, isDoh }: Way): Promise<string[]> {
  const scenario = readScenario(name)
  const folder = mkdtempSync(join(tmpdir(), 'kubedoh-conformance-'))
  const upstreams: Upstream[] = []
  try {
    Object.assign(process.env, { ETCD_ENDPOINT: NO_ETCD }, scenario.environment)
    for (const [variable, fixtures] of Object.entries(scenario.upstreams)) {
      const upstream = await startUpstream(fixtures ?? [])
      process.env[variable] = upstream.address
      if (fixtures === null) await upstream.close()
      else upstreams.push(upstream)
    }
    const transport = await open({ scenario, ...writeScenarioFiles(scenario, folder) })
    const cases = isDoh ? scenario.cases.filter(isForHttps) : scenario.cases
    try {
      // No two questions can come from one port at a time.
      const isOrdered = scenario.ordered || cases.some((one) => one.src_port !== undefined)
      return await run(cases, { transport, isDoh, isOrdered })
    } finally {
      await transport.close()
    }
  } finally {
    for (const upstream of upstreams) await upstream.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function run(
  cases: readonly Case[],
  options: { readonly transport: Transport; readonly isDoh: boolean; readonly isOrdered: boolean },
): Promise<string[]> {
  const found: string[] = []
  const waiting = cases.entries()
  const startMs = performance.now()
  const work = async (): Promise<void> => {
    for (const [i, recorded] of waiting) {
      const delayMs = (recorded.at_ms ?? 0) - (performance.now() - startMs)
      if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs))
      const messages = await options.transport.ask(recorded, caseQuery(recorded, i % 0xffff))
      const wrong = differences(recorded, messages, options.isDoh)
      if (wrong.length === 0 || found.length >= 10) continue
      found.push(`${recorded.id} ${recorded.qname} ${recorded.qtype}: ${wrong.join(', ')}`)
    }
  }
  await Promise.all(Array.from({ length: options.isOrdered ? 1 : CONCURRENCY }, work))
  return found
}

/**
 * Over HTTPS there are no malformed messages that go unanswered, clients choose no address, and what
 * is cut over UDP is whole.
 */
function isForHttps({ id, raw, src, expect, qname, qtype }: Case): boolean {
  const isTransfer = qtype === 'AXFR' || qtype === 'IXFR'
  // The answer before this one was cut, and the cache has kept it so.
  if (id === 'cache-0138') return false
  // Views of this zone are chosen by what UDP has room for, and by whether a query came over TCP.
  if (id.startsWith('view-') && /(^|\.)example\.com\.$/i.test(qname)) return false
  return raw === undefined && src === undefined && expect.drop !== true && !isTransfer
}
