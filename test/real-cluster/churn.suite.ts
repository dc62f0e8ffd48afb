/**
 * A cluster that changes all the time while everything around it fails: at the end a gateway, a
 * server and a fresh list agree on every name, and no response had one that never existed. Run by
 * `npm run test:cluster` for some seconds, by `npm run churn:long` for half an hour;
 * KUBEDOH_CHURN_SEED repeats a run.
 * @module
 */
import { deepEqual, equal } from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { it } from 'vitest'
import { randomFrom } from '../../bench/cluster-objects.ts'
import { kubeadmNaming, parsed } from '../../bench/generated-server.ts'
import { ClusterBuilder } from '../../src/cluster/follow/cluster-builder.ts'
import { recordOf } from '../../src/dns/bytes/unknown.ts'
import { outsideAddresses } from '../../src/server/node/local-addresses.ts'
import { describeUnless } from '../describe-unless.ts'
import { ApiServer } from './api-server.ts'
import { prepareBinaries } from './binaries.ts'
import { type ChurnTally, checkServer, type Seen, seenAt } from './churn-checks.ts'
import { ChurnProcesses } from './churn-faults.ts'
import { ChurnObjects, freshAddresses } from './churn-objects.ts'
import { LEASE_RIGHTS, RIGHTS } from './objects.ts'

const SECONDS = Number(process.env.KUBEDOH_CHURN_SECONDS ?? 15)
const SEED = Number(process.env.KUBEDOH_CHURN_SEED ?? Date.now() % 1_000_000)
const CHANGE_MS = 25
/** Longest pause between two faults. */
const QUIET_MS = 2000
/** How long everything may take to agree after the last fault. */
const SETTLE_MS = 60_000
const ASKED_AT_ONCE = 32

const binaries = prepareBinaries()
const skip = typeof binaries === 'string' ? binaries : false

describeUnless(skip, `${SECONDS} s of churn, seed ${SEED}`, () => {
  it('ends with gateway, server and a fresh list saying the same', async (t) => {
    if (typeof binaries === 'string') return
    const api = await ApiServer.start(binaries)
    t.onTestFinished(() => api.stop())
    for (const object of [...RIGHTS, ...LEASE_RIGHTS]) await api.create(object)
    const objects = new ChurnObjects(api, randomFrom(SEED))
    await objects.fill()
    const processes = await ChurnProcesses.start(api, randomFrom(SEED + 1))
    t.onTestFinished(() => processes.stop())
    const ended = AbortSignal.timeout(1000 * SECONDS)
    const settled = new AbortController()
    const check = (server: 'edge' | 'server', seed: number): Promise<ChurnTally> =>
      checkServer(processes[server], { objects, random: randomFrom(seed) }, settled.signal)
    const checked = Promise.all([check('edge', SEED + 2), check('server', SEED + 3)])
    const changed = keepChanging(objects, ended)
    const faults = await keepFailing(processes, ended)
    await changed
    const settleMs = await untilAgreed(api, objects, processes)
    settled.abort()
    const [edge, server] = await checked
    report({ objects, faults, settleMs, edge, server })
    deepEqual([edge.wrong, server.wrong], [0, 0])
    equal(await processes.publishedRecords(), await freshRecords(api))
  })
})

async function keepChanging(objects: ChurnObjects, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await objects.change()
    await sleep(CHANGE_MS)
  }
}

/** Lets everything fail in turn, in an order of chance. Returns how often each fault was tried. */
async function keepFailing(
  { faults }: ChurnProcesses,
  signal: AbortSignal,
): Promise<Readonly<Record<string, number>>> {
  const random = randomFrom(SEED + 4)
  const counts: Record<string, number> = {}
  for (;;) {
    const order = Object.entries(faults).map((one) => [random(), one] as const)
    for (const [, [name, fail]] of order.sort(([a], [b]) => a - b)) {
      await sleep(random() * QUIET_MS)
      if (signal.aborted) return counts
      await fail()
      counts[name] = (counts[name] ?? 0) + 1
    }
  }
}

/** Waits until both servers answer every name so far as a fresh list has it. */
async function untilAgreed(
  api: ApiServer,
  objects: ChurnObjects,
  processes: ChurnProcesses,
): Promise<number> {
  const startMs = performance.now()
  for (;;) {
    const differences = await findDifferences(await freshAddresses(api), objects, processes)
    const tookMs = performance.now() - startMs
    if (differences.length === 0) return tookMs
    if (tookMs > SETTLE_MS) deepEqual(differences.slice(0, 20), [], `after ${tookMs} ms`)
    await sleep(500)
  }
}

async function findDifferences(
  fresh: ReadonlyMap<string, readonly string[]>,
  { names }: ChurnObjects,
  { edge, server }: ChurnProcesses,
): Promise<string[]> {
  const differences: string[] = []
  const waiting = names.values()
  const askAll = async (): Promise<void> => {
    for (const { name } of waiting) {
      const expected = fresh.get(name)
      for (const [where, from] of Object.entries({ edge, server })) {
        const seen = await seenAt(from, name).catch(() => undefined)
        if (isRight(seen, expected)) continue
        const found = seen && [seen.rcode, ...seen.addresses].join(' ')
        differences.push(`${name}: ${where} says ${found}, the list ${expected?.join(' ')}`)
      }
    }
  }
  await Promise.all(Array.from({ length: ASKED_AT_ONCE }, askAll))
  return differences
}

/** A headless Service without endpoints has no name, as in CoreDNS. */
function isRight(seen: Seen | undefined, expected: readonly string[] | undefined): boolean {
  const rcode = expected === undefined || expected.length === 0 ? 'NXDOMAIN' : 'NOERROR'
  return seen?.rcode === rcode && seen.addresses.join() === (expected ?? []).toSorted().join()
}

/** Returns the number of records that a snapshot of a fresh list has. */
async function freshRecords(api: ApiServer): Promise<number> {
  const localAddresses = outsideAddresses(process.env.LOCAL_IPS)
  const builder = new ClusterBuilder({ ...kubeadmNaming(), localAddresses }, () => undefined)
  const kinds = [['Namespace'], ['Service'], ['EndpointSlice', 'discovery.k8s.io/v1'], ['Pod']]
  for (const [kind = '', version] of kinds) {
    for (const object of await api.list(kind, version)) builder.set(parsed(recordOf(object)))
  }
  return builder.build().records
}

function report(run: {
  readonly objects: ChurnObjects
  readonly faults: Readonly<Record<string, number>>
  readonly settleMs: number
  readonly edge: ChurnTally
  readonly server: ChurnTally
}): void {
  const lines = [
    ...Object.entries(run.objects.counts).map(([what, count]) => `${what}: ${count}`),
    ...Object.entries(run.faults).map(([what, count]) => `${what}: ${count} times`),
    ...(['edge', 'server'] as const).map((where) => {
      const { examples, ...counts } = run[where]
      const numbers = Object.entries(counts).map(([kind, count]) => `${count} ${kind}`)
      return `${where}: ${numbers.join(', ')}${examples.map((one) => `\n    ${one}`).join('')}`
    }),
    `all ${run.objects.names.length} names agree ${(run.settleMs / 1000).toFixed(1)} s after the end`,
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
}
