/**
 * A gateway of a large cluster while many clients look through its names without end. Run by
 * `npm run test:attack`.
 * @module
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { attack, REPEATED, type Row, runAttacker } from './harness.ts'
import { type HttpsTarget, type Served, startGateway, startHttpsTarget } from './https-targets.ts'

const SERVICES = 100_000
const CLIENTS = 80
/** Time that other clients wait for a response at most: a query gets in between all slices. */
const P99_MS_MAX = 50
const HOLD_MS = 8000
const ROWS = [
  { name: 'searches of all names', path: '/v1/names?under=cluster.local&search=none-#' },
  { name: 'explanations by similar names', path: '/v1/explain?name=othr-#.shop.svc.cluster.local' },
]

describe('kubedoh gateway whose names clients search without end', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kubedoh-attack-'))
  let running: { -readonly [Key in keyof HttpsTarget]: HttpsTarget[Key] } | undefined

  const rowOf = ({ name, path }: (typeof ROWS)[number], count = CLIENTS): Row => {
    const { port = 0, token = '' } = running?.attacked ?? {}
    const headers = { authorization: `Bearer ${token}` }
    const argument = { port, count, holdMs: HOLD_MS, addresses: 1, path, headers }
    const volume = `${count} clients, ${SERVICES} Services`
    const module = import.meta.resolve('./http-attacks.ts')
    return { name, volume, module, run: 'endlessRequests', argument, p99MsMax: P99_MS_MAX }
  }

  beforeAll(async () => {
    const start = (one: string): Promise<Served> => startGateway(one, { more: SERVICES })
    running = await startHttpsTarget(folder, start, (probe) => [
      { ...probe, kind: 'https', perSecond: 100, staysConnected: true },
    ])
    // Whoever reads all names keeps them in memory.
    for (const row of ROWS) await runAttacker({ ...rowOf(row, 1), name: 'warm-up' })
    running.target = { ...running.target, memoryStart: running.target.program.memory() }
  })
  afterAll(async () => {
    await running?.target.stop()
    rmSync(folder, { recursive: true })
  })

  for (const row of ROWS) {
    test(`${row.name}: ${CLIENTS} clients`, REPEATED, async () => {
      if (running === undefined) throw new Error('the program did not start')
      const statuses = await attack(running.target, rowOf(row))
      assert.ok(Number(Object(statuses)['200']) > 0, JSON.stringify(statuses))
    })
  }
})
