/**
 * Several faults at once, in a random order.
 * @module
 */
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { TestContext } from 'vitest'
import { ChangingApi } from './changing-api.ts'
import { sumOf } from './checked-load.ts'
import type { CheckedQuery } from './checking-client.ts'
import { FaultyLink, type LinkState } from './faulty-link.ts'
import { type Behavior, FaultyUpstream } from './faulty-upstream.ts'
import { describe, duration, FaultedServer, randomOf, SCALE } from './harness.ts'

const STEPS = 25
const RIGHT_MS = 500
const STATES: readonly LinkState[] = ['up', 'up', 'refused', 'silent', 'cut']
/** SERVFAIL of an upstream is missing: clients of a healthy one would get it, too. */
const BEHAVIORS: readonly Behavior[] = [
  ...(['healthy', 'dead', 'silent', 'slow', 'late', 'lying', 'forged', 'truncating'] as const),
]

/** One upstream of two fails, the API server is away at times and changes, the Corefile reloads. */
export async function combine(t: TestContext): Promise<void> {
  const random = randomOf('combined')
  const pick = <T>(items: readonly T[]): T | undefined => items[Math.floor(random() * items.length)]
  const api = await ChangingApi.start(random)
  const link = await FaultyLink.start(api.port)
  const [faulty, healthy] = [await FaultyUpstream.start(random), await FaultyUpstream.start(random)]
  t.onTestFinished(async () => {
    await Promise.all([link.close(), api.stop(), faulty.stop(), healthy.stop()])
  })
  const server = await FaultedServer.start(t, {
    corefile: `.:PORT {
  bind 127.0.0.1
  errors
  kubernetes cluster.local {
    endpoint http://127.0.0.1:${link.port}
  }
  cache 1
  forward . 127.0.0.1:${faulty.port} 127.0.0.1:${healthy.port}
}
`,
  })
  const external: CheckedQuery = {
    ...{ group: 'external', name: 'n#.two.test' },
    expected: ['derived', 'truncated over udp'],
  }
  const load = await server.load(t, [...api.queries(), external, external])
  load.enter('faults', [...api.anyQueries(), external, external])
  const counts = { upstream: 0, link: 0, change: 0, reload: 0 }
  const actions: Readonly<Record<keyof typeof counts, () => Promise<void>>> = {
    upstream: () => faulty.become(pick(BEHAVIORS) ?? 'healthy'),
    link: () => link.enter(pick(STATES) ?? 'up'),
    change: async () => {
      api.change()
    },
    reload: async () => server.signal('SIGUSR1'),
  }
  for (let i = 0; i < STEPS * SCALE; i++) {
    const action = pick(['upstream', 'link', 'change', 'reload'] as const) ?? 'reload'
    counts[action]++
    // Before the change: responses have the versions from the last that the API server could send.
    if (action === 'change') load.enter('faults', [...api.anyQueries(), external, external])
    await actions[action]()
    await sleep(duration(random, 100, 400) / SCALE)
  }
  await load.pause()
  await Promise.all([faulty.become('healthy'), link.enter('up')])
  api.change()
  const all = [...api.queries(), external]
  await server.follow(all)
  load.enter('right after', all)
  await sleep(RIGHT_MS)
  const tally = await load.end()
  const tried = Object.entries(counts).map(([name, count]) => `${count} × ${name}`)
  await server.check('all at once', tried.join(', '), tally)
  const { failed, lost } = sumOf(tally)
  assert.equal(failed + lost, 0, describe(tally))
}
