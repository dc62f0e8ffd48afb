/**
 * Faults of upstreams.
 * @module
 */
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { TestContext } from 'vitest'
import { sumOf } from './checked-load.ts'
import type { CheckedQuery } from './checking-client.ts'
import { BEHAVIORS, type Behavior, FaultyUpstream } from './faulty-upstream.ts'
import { describe, duration, FaultedServer, randomOf, shuffled } from './harness.ts'

const RIGHT_MS = 400
/** Objects of a cluster with one Service. */
export const OBJECTS: string = JSON.stringify({
  apiVersion: 'v1',
  kind: 'List',
  items: [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } },
    {
      ...{ apiVersion: 'v1', kind: 'Service', metadata: { name: 'web', namespace: 'shop' } },
      spec: { clusterIP: '10.96.0.10', ports: [{ port: 80 }] },
    },
  ],
})

/** Behaviors that the upstream's clients do not see as a failure. */
const ANSWERING: ReadonlySet<string> = new Set<Behavior>(['slow', 'forged', 'truncating'])
/**
 * Behaviors of one upstream that also show where a second one is healthy: SERVFAIL is a
 * response.
 */
const PASSED_ON: ReadonlySet<string> = new Set<Behavior>(['failing', 'flapping'])

/** `one.test` has a faulty upstream only, `two.test` a healthy one as well. */
function queries(alsoRight: readonly string[] = []): CheckedQuery[] {
  const expected = ['derived', ...alsoRight]
  return [
    { group: 'cluster', name: 'web.shop.svc.cluster.local', expected: ['10.96.0.10'] },
    { group: 'cluster', name: 'n#.shop.svc.cluster.local', expected: ['NXDOMAIN'] },
    { group: 'one', name: 'n#.one.test', expected },
    { group: 'two', name: 'n#.two.test', expected },
    { group: 'two', name: 'always.two.test', expected },
  ]
}

/** An upstream is dead, silent, slow, lying, truncating and flapping; a second one is healthy. */
export async function breakUpstream(t: TestContext): Promise<void> {
  const random = randomOf('upstream')
  const [faulty, healthy] = [await FaultyUpstream.start(random), await FaultyUpstream.start(random)]
  t.onTestFinished(async () => {
    await faulty.stop()
    await healthy.stop()
  })
  const block = (zone: string, ...plugins: readonly string[]): string =>
    `${zone}:PORT {\n  bind 127.0.0.1\n  errors\n  ${plugins.join('\n  ')}\n}\n`
  const both = `127.0.0.1:${faulty.port} 127.0.0.1:${healthy.port}`
  const server = await FaultedServer.start(t, {
    corefile:
      block('cluster.local', 'kubernetes cluster.local') +
      block('one.test', `forward . 127.0.0.1:${faulty.port}`) +
      block('two.test', 'cache 1 {\n    servfail 1s\n  }', `forward . ${both}`),
    files: { 'objects.json': OBJECTS },
    flags: ['--objects', 'FOLDER/objects.json'],
  })
  const load = await server.load(t, queries())
  const order = shuffled([...BEHAVIORS, 'flapping'] as const, random)
  for (const behavior of order) {
    await load.pause()
    await faulty.become(behavior)
    load.enter(behavior, queries(['truncated over udp']))
    await sleep(duration(random, 800, 1600))
    await load.pause()
    await faulty.become('healthy')
    await server.follow(queries())
    load.enter(`right after ${behavior}`, queries())
    await sleep(RIGHT_MS)
  }
  const tally = await load.end()
  await server.check('upstream', order.join(', '), tally)
  const failures = sumOf(
    tally,
    (phase, group) =>
      group === 'cluster' || ANSWERING.has(phase) || (group === 'two' && !PASSED_ON.has(phase)),
  )
  assert.equal(failures.failed, 0, describe(tally))
  assert.equal(sumOf(tally).lost, 0, describe(tally))
}
