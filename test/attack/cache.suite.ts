/**
 * `kubedoh serve` with a cache that wide responses fill, in the memory of the chart's limit. Run by
 * `npm run test:attack`.
 * @module
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'vitest'
import { freePort } from '../free-port.ts'
import type { Filled, Filling } from './cache-attacks.ts'
import { attack, REPEATED, SCALE, startTarget } from './harness.ts'
import { startProgram } from './program.ts'
import { clusterObjects, NAME } from './target-cluster.ts'

/** The limit of the chart's server. */
const MEMORY_MIB = 256
/** Share of the queries that is answered at least, by a machine with other work. */
const ANSWERED_MIN = 0.8

describe('kubedoh serve with a cache full of wide responses', () => {
  for (const blocks of [1, 4]) {
    test(`serves within ${MEMORY_MIB} MiB, with ${blocks} cache(s)`, REPEATED, async (t) => {
      const folder = mkdtempSync(join(tmpdir(), 'kubedoh-cache-'))
      t.onTestFinished(() => rmSync(folder, { recursive: true }))
      const [port, upstreamPort] = [await freePort(), await freePort()]
      const zones = Array.from({ length: blocks }, (_, i) => `z${i}.test`)
      const own = `.:${port} {\n  bind 127.0.0.1\n  kubernetes cluster.local\n}\n`
      const cached = zones.map(
        (zone) =>
          `${zone}:${port} {\n bind 127.0.0.1\n cache\n forward . 127.0.0.1:${upstreamPort}\n}\n`,
      )
      const [conf, objects] = [join(folder, 'Corefile'), join(folder, 'objects.yaml')]
      writeFileSync(conf, own + cached.join(''))
      writeFileSync(objects, clusterObjects())
      const program = await startProgram(['serve', '--conf', conf, '--objects', objects], {
        ready: /^ready/,
        memoryMib: MEMORY_MIB,
      })
      const probes = [{ kind: 'udp', port, name: NAME, perSecond: 100 }] as const
      const target = await startTarget(program, probes)
      t.onTestFinished(() => target.stop())
      let answered = 0
      for (const zone of zones) {
        const argument: Filling = {
          ...{ port, upstreamPort, zone },
          count: (40_000 * SCALE) / blocks,
          ...{ perSecond: 3000, records: 12, textBytes: 80 },
        }
        const volume = `${argument.count} names × 12 × 80 bytes`
        const module = import.meta.resolve('./cache-attacks.ts')
        const row = {
          name: `wide TXT responses of ${zone}`,
          volume,
          module,
          run: 'fillCache',
          argument,
        }
        const result = await attack({ ...target, memoryStart: MEMORY_MIB }, row)
        assert.ok(isFilled(result))
        process.stdout.write(`${result.answered} of ${result.asked} answered\n`)
        answered += result.answered
      }
      assert.ok(answered >= 40_000 * SCALE * ANSWERED_MIN, `${answered} answered`)
    })
  }
})

function isFilled(value: unknown): value is Filled {
  return typeof value === 'object' && value !== null && 'answered' in value
}
