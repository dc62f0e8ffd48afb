/**
 * Days of a cluster in short: two servers, three gateways and two exporters on a real node, under
 * queries and changes of Services, while pods are replaced, evicted and killed, Helm upgrades and
 * keys rotate, in turns. `npm run soak:long` takes eight hours, and writes a row of each turn.
 * @module
 */
import assert from 'node:assert/strict'
import { appendFileSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, test } from 'vitest'
import { describeUnless } from '../describe-unless.ts'
import { type Binaries, prepareBinaries } from '../real-cluster/binaries.ts'
import {
  crash,
  evict,
  podsOf,
  SERVERS,
  SYSTEM,
  startCluster,
  waitForRollout,
  waitForServers,
} from './cluster.ts'
import { ACTIONS, type GatewayAction, killGateway } from './gateway-actions.ts'
import { clientsDuring } from './gateway-load.ts'
import { EXPORTER, type Gateway, installGateway } from './gateway-setup.ts'
import type { KubernetesNode } from './node.ts'
import { probeMachine } from './packages.ts'
import { NODE } from './parts.ts'
import { memoryOf } from './pod-memory.ts'
import { SoakPrometheus } from './soak-prometheus.ts'
import { PARTS, type Turn } from './soak-turn.ts'
import { countDuring } from './under-load.ts'

const SECONDS = Number(process.env.KUBEDOH_SOAK_SECONDS ?? 45)
/** File that gets a row of JSON for each turn. */
const ROWS = process.env.KUBEDOH_SOAK_ROWS ?? ''
/** Path of a Prometheus that scrapes meanwhile; the dashboards are drawn from it. */
const PROMETHEUS = process.env.KUBEDOH_SOAK_PROMETHEUS ?? ''
const PER_SECOND = 500
/** Services that are created and deleted in each turn. */
const SERVICES = 100
/** Turns from which on memory is compared, and how much more the last third may have. */
const COMPARED_MIN = 30
const GROWTH_MAX = 1.2

const SERVER_ACTIONS: readonly GatewayAction[] = [
  [
    'servers are replaced',
    async (node) => {
      await node.kubectl(...SYSTEM, 'rollout', 'restart', 'deployment/kubedoh-server')
      await waitForServers(node)
    },
  ],
  [
    'servers are evicted',
    async (node) => {
      for (const pod of await podsOf(node, SERVERS)) {
        await evict(node, pod)
        await waitForRollout(node)
      }
      await waitForServers(node)
    },
  ],
  [
    'a server is killed',
    async (node) => {
      const [pod = ''] = await podsOf(node, SERVERS)
      await crash(node, pod)
      await waitForServers(node)
    },
  ],
  ['a gateway is killed', killGateway],
  [
    'an exporter is killed',
    async (node) => {
      const [pod = ''] = await podsOf(node, 'app.kubernetes.io/component=exporter')
      await crash(node, pod)
      const rolledOut = ['rollout', 'status', `deployment/${EXPORTER}`, '--timeout=60s']
      await node.kubectl(...SYSTEM, ...rolledOut)
    },
  ],
]

const missing = probeMachine()
const binaries: Binaries | string = missing ?? prepareBinaries('helm')

describeUnless(typeof binaries === 'string' && binaries, 'the days of a cluster', () => {
  let node: KubernetesNode
  let gateway: Gateway
  beforeAll(async () => {
    assert.ok(typeof binaries !== 'string')
    node = await startCluster(binaries)
    gateway = await installGateway(node)
    await waitForServers(node)
  })
  afterAll(() => node?.stop())

  test(`${SECONDS} s lose no query`, { timeout: SECONDS * 1000 + 600_000, retry: 0 }, async () => {
    if (ROWS !== '') writeFileSync(ROWS, '')
    const prometheus =
      PROMETHEUS === '' ? undefined : await SoakPrometheus.start(PROMETHEUS, node, gateway)
    const actions = [...SERVER_ACTIONS, ...ACTIONS]
    const turns: Turn[] = []
    const begin = performance.now()
    const minutes = (): number => (performance.now() - begin) / 60_000
    while (minutes() * 60 < SECONDS) {
      const action = actions[turns.length % actions.length]
      assert.ok(action !== undefined)
      const turn = { minutes: minutes(), ...(await takeTurn(node, gateway, action)) }
      turns.push(turn)
      if (ROWS !== '') appendFileSync(ROWS, `${JSON.stringify(turn)}\n`)
      assert.equal(turn.lost, 0)
    }
    prometheus?.stop()
    assertLevel(turns)
  })
})

async function takeTurn(
  node: KubernetesNode,
  gateway: Gateway,
  [what, action]: GatewayAction,
): Promise<Omit<Turn, 'minutes'>> {
  let answered: { clients: number; failed: number } = { clients: 0, failed: 0 }
  const act = async (): Promise<void> => {
    await changeServices(node, 'apply')
    await action(node, gateway)
    await changeServices(node, 'delete')
  }
  const at = { node, address: NODE.dns, what, perSecond: PER_SECOND }
  const { counts } = await countDuring(at, async () => {
    answered = await clientsDuring(node, gateway.asked, [what, act])
  })
  assert.equal(counts.wrong + counts.failed, 0, counts.examples.join(', '))
  const sizes = PARTS.map(async (part) => {
    const { resident } = await memoryOf(node, `app.kubernetes.io/component=${part}`)
    return [part, Math.round(resident)] as const
  })
  const [server, gateways, exporter] = await Promise.all(sizes)
  const memory = {
    server: server?.[1] ?? 0,
    gateway: gateways?.[1] ?? 0,
    exporter: exporter?.[1] ?? 0,
  }
  const { right: queries, late, lost } = counts
  const { clients, failed } = answered
  return { what, queries, late, lost, clients, failed, memory }
}

async function changeServices(node: KubernetesNode, verb: 'apply' | 'delete'): Promise<void> {
  const items = Array.from({ length: SERVICES }, (_, i) => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: `soak-${i}` },
    spec: { clusterIP: 'None', ports: [{ name: 'http', port: 80 }] },
  }))
  const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items })
  await node.kubectlWith(list, verb, '-f', '-')
}

/** Compares the memory of the last third with that of the first. */
function assertLevel(turns: readonly Turn[]): void {
  if (turns.length < COMPARED_MIN) return
  const third = Math.floor(turns.length / 3)
  for (const part of PARTS) {
    const median = (some: readonly Turn[]): number =>
      some.map(({ memory }) => memory[part]).toSorted((a, b) => a - b)[Math.floor(third / 2)] ?? 0
    const [first, last] = [median(turns.slice(0, third)), median(turns.slice(-third))]
    assert.ok(last <= first * GROWTH_MAX, `${part}: ${first} to ${last} MiB`)
  }
}
