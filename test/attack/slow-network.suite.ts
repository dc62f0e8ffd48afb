/**
 * `kubedoh serve` whose responses nobody takes. Run by `npm run test:attack`.
 * @module
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, onTestFinished, test } from 'vitest'
import { attack, REPEATED, type Row, runAttacker, SCALE, startTarget } from './harness.ts'
import { SERVER_MIB } from './https-targets.ts'
import { startProgram } from './program.ts'
import { createSlowNetwork } from './slow-network.ts'
import { clusterObjects, NAME, WIDE_NAME } from './target-cluster.ts'

const UDP = import.meta.resolve('./udp-attacks.ts')
/** In a network of its own, no other program has a port. */
const PORT = 5353

describe('kubedoh serve behind a slow network', () => {
  for (const batches of ['1', '0']) {
    test(
      `UDP responses that the network does not take, batches ${batches}`,
      REPEATED,
      async (t) => {
        const network = createSlowNetwork()
        if (network === undefined) return t.skip()
        const folder = mkdtempSync(join(tmpdir(), 'kubedoh-attack-'))
        onTestFinished(() => {
          network.remove()
          rmSync(folder, { recursive: true })
        })
        const [conf, objects] = [join(folder, 'Corefile'), join(folder, 'objects.yaml')]
        writeFileSync(conf, `.:${PORT} {\n  kubernetes cluster.local\n}\n`)
        writeFileSync(objects, clusterObjects())
        const program = await startProgram(['serve', '--conf', conf, '--objects', objects], {
          ready: /^ready/,
          memoryMib: SERVER_MIB,
          environment: { KUBEDOH_UDP_BATCHES: batches },
          within: network.near,
        })
        const asked = { module: UDP, run: 'ask', port: PORT, burst: 40 }
        const row = (count: number, name: string): Row => ({
          name: 'responses that the network does not take',
          volume: `${count}, 40,000 a second, batches ${batches}`,
          module: UDP,
          run: 'ask',
          argument: { ...asked, to: network.address, count, name, udpBytes: 1232 },
          within: network.far,
        })
        // By TCP: the kernel has one queue for all UDP responses of a socket.
        const target = await startTarget(
          program,
          [{ kind: 'tcp', port: PORT, name: NAME, perSecond: 50 }],
          () => runAttacker({ ...row(20_000, NAME), within: network.near }),
        )
        try {
          await attack(target, row(300_000 * SCALE, WIDE_NAME))
          const near = { ...row(1, NAME), argument: { ...asked, count: 1, name: NAME } }
          const result = await runAttacker({ ...near, within: network.near })
          assert.partialDeepStrictEqual(result, { answers: 1 })
        } finally {
          await target.stop()
        }
      },
    )
  }
})
