/**
 * Faults of what the names of a cluster come from: the API server, and a gateway.
 * @module
 */
import { mkdtempSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { TestContext } from 'vitest'
import { startGateway } from '../attack/https-targets.ts'
import { NAME } from '../attack/target-cluster.ts'
import { AUTHORITY } from '../certificates.ts'
import { temporaryFolder } from '../cluster/follow/temporary-folder.ts'
import { ChangingApi } from './changing-api.ts'
import type { CheckedQuery } from './checking-client.ts'
import { FaultyLink, type LinkState } from './faulty-link.ts'
import { duration, FaultedServer, randomOf, SCALE, shuffled } from './harness.ts'

const CLOCK = new URL('clock.ts', import.meta.url).href
const AWAY = ['refused', 'silent', 'cut'] as const satisfies readonly LinkState[]
const RIGHT_MS = 400
/** Ten minutes take three seconds. */
const SPEED = 200
const AWAY_MS = 3000
const CHANGES = 5

/** The API server is away for ten minutes of a fast clock, each way, and back with all changed. */
export async function loseApiServer(t: TestContext): Promise<void> {
  const random = randomOf('API server')
  const api = await ChangingApi.start(random)
  const link = await FaultyLink.start(api.port)
  t.onTestFinished(async () => {
    await link.close()
    await api.stop()
  })
  const endpoint = `endpoint http://127.0.0.1:${link.port}`
  const server = await FaultedServer.start(t, {
    corefile: `.:PORT {\n  bind 127.0.0.1\n  kubernetes cluster.local {\n    ${endpoint}\n  }\n}\n`,
    environment: { NODE_OPTIONS: `--import=${CLOCK}`, FAULT_SPEED: String(SPEED) },
  })
  // Idle TCP connections are closed after 10 s, which this clock makes 50 ms.
  const load = await server.load(t, api.queries(), 0)
  const order = shuffled(AWAY, random)
  for (const state of order) {
    await load.pause()
    await link.enter(state)
    const before = api.queries()
    for (let i = 0; i < CHANGES; i++) api.change()
    // A cut connection may still bring a whole small list.
    if (state === 'cut') load.enter('cut', api.queries(CHANGES + 1))
    else load.enter(`right while ${state}`, before)
    await sleep(SCALE * AWAY_MS)
    load.enter('back', api.queries(CHANGES + 1))
    await link.enter('up')
    await server.follow(api.queries())
    await load.pause()
    load.enter(`right after ${state}`, api.queries())
    await sleep(RIGHT_MS)
  }
  const tried = `ten minutes each: ${order.join(', ')}; ${CHANGES} changes of everything meanwhile`
  await server.check('API server', tried, await load.end())
}

/** Names come from a gateway, which is away at times; then the API server comes. */
export async function loseGateway(t: TestContext): Promise<void> {
  const random = randomOf('gateway')
  const api = await ChangingApi.start(random)
  const gateway = await startGateway(mkdtempSync(`${temporaryFolder(t)}/gateway-`))
  const links = {
    api: await FaultyLink.start(api.port, 'refused'),
    gateway: await FaultyLink.start(gateway.attacked.port),
  }
  t.onTestFinished(async () => {
    await Promise.all([links.api.close(), links.gateway.close(), api.stop()])
    await gateway.program.running.stop()
  })
  const server = await FaultedServer.start(t, {
    corefile: `cluster.local:PORT {
  bind 127.0.0.1
  errors
  cache 30 {
    serve_stale 24h verify 1s 30s 10s
  }
  kubernetes cluster.local {
    endpoint http://127.0.0.1:${links.api.port}
    startup_timeout 1s
    fallback
  }
  forward . https://127.0.0.1:${links.gateway.port} {
    tls authority.pem
    token token
  }
}
`,
    files: { 'authority.pem': AUTHORITY, token: gateway.attacked.token },
  })
  const known: CheckedQuery = { group: 'known', name: NAME, expected: ['10.96.0.10'] }
  const others: CheckedQuery = {
    ...{ group: 'others', name: 'n#.shop.svc.cluster.local' },
    expected: ['NXDOMAIN'],
  }
  const load = await server.load(t, [known, others])
  const order = shuffled(AWAY, random)
  for (const state of order) {
    await load.pause()
    await links.gateway.enter(state)
    load.enter(`right, known names, ${state}`, [known])
    await sleep(duration(random, 600, 1200))
    load.enter(state, [known, others])
    await sleep(duration(random, 600, 1200))
    await load.pause()
    await links.gateway.enter('up')
    await server.follow([known, others])
    load.enter(`right after ${state}`)
    await sleep(RIGHT_MS)
  }
  await load.pause()
  await links.gateway.enter('refused')
  await links.api.enter('up')
  api.change()
  const now = [...api.queries(), { ...known, expected: ['NXDOMAIN'] }]
  await server.follow(now)
  load.enter('right with the API server', now)
  await sleep(RIGHT_MS)
  await server.check('gateway', `${order.join(', ')}; then the API server`, await load.end())
}
