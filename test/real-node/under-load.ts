/**
 * Queries from a pod to the Service kube-dns while something happens to the servers behind it.
 * @module
 */
import assert from 'node:assert/strict'
import { RunningLoad, sumOf } from '../faults/checked-load.ts'
import type { CheckedQuery, Counts } from '../faults/checking-client.ts'
import type { KubernetesNode } from './node.ts'
import { NODE } from './parts.ts'

const PER_SECOND = 2000
const TCP_PER_SECOND = 20
/** What is in flight, or on its way to a server that has ended, when the action is over. */
const SETTLE_MS = 2000

type LoseNothing = (
  node: KubernetesNode,
  what: string,
  action: () => Promise<unknown>,
) => Promise<{ late: number }>

/**
 * Sends queries to the Service kube-dns during an action, each from a new port, and prints how they
 * ended.
 * @returns the share of late responses, after which a stub resolver has sent its query again
 * @throws {AssertionError} when a query is lost, fails or has a wrong response
 */
export const loseNothing: LoseNothing = loseNothingAt(NODE.dns)

/** Returns a function that does as {@link loseNothing} does, with queries to another address. */
export function loseNothingAt(address: string): LoseNothing {
  return (node, what, action) => loadDuring({ node, address, what }, action)
}

async function loadDuring(at: Loaded, action: () => Promise<unknown>): Promise<{ late: number }> {
  const { counts, rate } = await countDuring(at, action)
  assert.deepEqual(counts.examples, [])
  // A busy machine may not reach the rate, but a load that stands still shows nothing.
  assert.ok(rate > PER_SECOND / 10, `${rate} queries a second`)
  return { late: counts.late / counts.right }
}

/** Where queries go, and what happens meanwhile. */
export type Loaded = {
  readonly node: KubernetesNode
  readonly address: string
  readonly what: string
  readonly perSecond?: number
}

/** Sends queries during an action, and prints how they ended. */
export async function countDuring(
  { node, address, what, perSecond = PER_SECOND }: Loaded,
  action: () => Promise<unknown>,
): Promise<{ readonly counts: Counts; readonly rate: number }> {
  const load = await RunningLoad.start(
    {
      stubOf: address,
      port: 53,
      perSecond,
      tcpPerSecond: TCP_PER_SECOND,
      queries: await queriesFor(node),
    },
    await node.inPod('glibc'),
  )
  const begin = performance.now()
  try {
    load.enter(what)
    await action()
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS))
  } catch (error) {
    load.kill()
    throw error
  }
  const seconds = (performance.now() - begin) / 1000
  const counts = sumOf(await load.end())
  const { right, late, failed, lost, wrong } = counts
  const rate = Math.round((right + failed + lost + wrong) / seconds)
  console.log(
    `${what}: ${right} queries answered in ${seconds.toFixed(0)} s (${rate}/s), ` +
      `${late} of them at the second attempt, ${lost} lost, ${failed + wrong} wrong`,
  )
  return { counts, rate }
}

async function queriesFor(node: KubernetesNode): Promise<CheckedQuery[]> {
  const peers = await node.kubectl(
    ...['get', 'pods', '-l', 'app=db', '-o', 'jsonpath={.items[*].status.podIP}'],
  )
  const [first = ''] = peers.split(' ')
  const service = `svc.${NODE.domain}`
  const rows: readonly (readonly [name: string, outcome: string])[] = [
    [`kubernetes.default.${service}`, NODE.apiServer],
    [`db.default.${service}`, peers.split(' ').sort().join(' ')],
    [`db-0.db.default.${service}`, first],
    [`n#.default.${service}`, 'NXDOMAIN'],
    ['www.example.com', '192.0.2.80'],
    ['n#.example.com', 'NXDOMAIN'],
  ]
  return rows.map(([name, outcome]) => ({ group: name, name, expected: [outcome] }))
}
