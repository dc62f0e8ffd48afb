/**
 * Faults of the machine that a server runs on: its clock, its limits, and its end.
 * @module
 */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { TestContext } from 'vitest'
import { runAttacker } from '../attack/harness.ts'
import { temporaryFolder } from '../cluster/follow/temporary-folder.ts'
import { ChangingApi } from './changing-api.ts'
import { sumOf } from './checked-load.ts'
import type { CheckedQuery } from './checking-client.ts'
import { FaultyLink } from './faulty-link.ts'
import { FaultyUpstream } from './faulty-upstream.ts'
import { describe, duration, FaultedServer, randomOf, SCALE, shuffled } from './harness.ts'
import { OBJECTS } from './upstream-faults.ts'

const CLOCK = new URL('clock.ts', import.meta.url).href
const STREAMS = new URL('../attack/stream-attacks.ts', import.meta.url).href
const HOUR_MS = 3_600_000
/** Jumps of the wall clock, in hours: forward and back, by an hour, a day and ten years. */
const JUMPS = [1, -1, 24, -24, 87_600, -87_600] as const
const DESCRIPTORS = 120
const EXHAUSTED_MS = 7000
const RIGHT_MS = 500

const QUERIES: readonly CheckedQuery[] = [
  { group: 'cluster', name: 'web.shop.svc.cluster.local', expected: ['10.96.0.10'] },
  { group: 'cluster', name: 'n#.shop.svc.cluster.local', expected: ['NXDOMAIN'] },
  { group: 'external', name: 'n#.one.test', expected: ['derived'] },
  { group: 'external', name: 'always.one.test', expected: ['derived'] },
]

type Given = {
  /** Options of the `kubernetes` directive. */
  readonly kubernetes?: string
  readonly environment?: Readonly<Record<string, string>>
  readonly files?: Readonly<Record<string, string>>
  readonly flags?: readonly string[]
  readonly descriptorsMax?: number
}

/** Starts a server of a cluster with a healthy upstream. */
async function startServer(t: TestContext, given: Given): Promise<FaultedServer> {
  const upstream = await FaultyUpstream.start(Math.random)
  t.onTestFinished(() => upstream.stop())
  const { files, flags = ['--objects', 'FOLDER/objects.json'], kubernetes = '', ...rest } = given
  return FaultedServer.start(t, {
    corefile: `.:PORT {
  bind 127.0.0.1
  errors
  reload 2s 1s
  kubernetes cluster.local ${kubernetes}
  cache 5
  forward . 127.0.0.1:${upstream.port}
}
`,
    files: { 'objects.json': OBJECTS, ...files },
    flags,
    ...rest,
  })
}

/** The wall clock jumps: no response changes. */
export async function jumpClock(t: TestContext): Promise<void> {
  const random = randomOf('clock')
  const path = join(temporaryFolder(t, { jump: '0\n' }), 'jump')
  const environment = { NODE_OPTIONS: `--import=${CLOCK}`, FAULT_JUMP: path }
  const server = await startServer(t, { environment })
  const load = await server.load(t, QUERIES)
  const order = shuffled(JUMPS, random)
  for (const hours of order) {
    load.enter(`right after ${hours} hours`)
    writeFileSync(path, `${hours * HOUR_MS}\n`)
    await sleep(duration(random, 300, 700))
  }
  const tried = `${order.map((hours) => `${hours > 0 ? '+' : ''}${hours} h`).join(', ')}`
  await server.check('clock', tried, await load.end())
}

/** TCP clients use all descriptors; a reload and a lost API server come meanwhile. */
export async function exhaustDescriptors(t: TestContext): Promise<void> {
  const random = randomOf('descriptors')
  const api = await ChangingApi.start(random)
  const link = await FaultyLink.start(api.port)
  t.onTestFinished(async () => {
    await link.close()
    await api.stop()
  })
  const kubernetes = `{\n    endpoint http://127.0.0.1:${link.port}\n  }`
  const server = await startServer(t, { kubernetes, flags: [], descriptorsMax: DESCRIPTORS })
  const external = QUERIES.filter(({ group }) => group === 'external')
  const load = await server.load(t, [...api.queries(), ...external])
  load.enter('exhausted', [...api.queries(), ...external])
  // Longer than the intervals of what reads files and addresses meanwhile.
  const holdMs = EXHAUSTED_MS * SCALE
  const held = hold(server.port, { count: 4 * DESCRIPTORS, addresses: 40, holdMs })
  await sleep(holdMs / 2)
  server.signal('SIGUSR1')
  await link.enter('refused')
  await link.enter('up')
  await held
  await load.pause()
  api.change()
  const all = [...api.queries(), ...external]
  await server.follow(all)
  load.enter('right after', all)
  server.signal('SIGUSR1')
  await sleep(RIGHT_MS)
  const tally = await load.end()
  const tried = `${4 * DESCRIPTORS} connections at ${DESCRIPTORS} descriptors, 2 reloads, API server lost`
  await server.check('descriptors', tried, tally)
  // A name of the cluster needs no descriptor by UDP.
  const { examples } = sumOf(tally, (_, group) => group === 'cluster')
  const lost = examples.filter((text) => text.startsWith('udp'))
  assert.deepEqual(lost, [], describe(tally))
}

/** 10,000 TCP connections are idle. */
export async function holdIdle(t: TestContext): Promise<void> {
  const server = await startServer(t, {})
  const load = await server.load(t, QUERIES)
  const count = 10_000
  load.enter('right while idle')
  await hold(server.port, { count, addresses: 40, holdMs: 2000 * SCALE })
  load.enter('right after')
  await sleep(RIGHT_MS)
  await server.check('idle connections', `${count}, 40 addresses`, await load.end())
}

/** SIGKILL, and a start at the same port: responses are right as soon as it is ready. */
export async function killAndRestart(t: TestContext): Promise<void> {
  const random = randomOf('SIGKILL')
  const workers = 1 + Math.floor(2 * random())
  const objects = ['--objects', 'FOLDER/objects.json']
  const flags = [...objects, '--workers', String(workers)]
  const server = await startServer(t, { flags, environment: { KUBEDOH_PIDFILE: 'FOLDER/pid' } })
  const load = await server.load(t, QUERIES)
  const kills = 3 * SCALE
  for (let i = 0; i < kills; i++) {
    await load.pause()
    load.enter('killed')
    await server.kill('SIGKILL')
    await sleep(random() * 200)
    await server.restart()
    load.enter(`right after ${i + 1}`, QUERIES)
    await sleep(RIGHT_MS)
  }
  await server.check('SIGKILL', `${kills} times, ${workers} threads`, await load.end())
}

type Held = { readonly count: number; readonly addresses: number; readonly holdMs: number }

async function hold(port: number, held: Held): Promise<void> {
  const { count } = held
  const argument = { port, ...held }
  await runAttacker({ name: 'hold', volume: `${count}`, module: STREAMS, run: 'hold', argument })
}
