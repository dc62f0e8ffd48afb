/**
 * DNS over HTTPS under attack: `kubedoh serve`, and `kubedoh gateway` on Node and on Bun. Run by
 * `npm run test:attack`.
 * @module
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, test } from 'vitest'
import { describeUnless } from '../describe-unless.ts'
import { BUN, missingRuntime } from '../runtimes.ts'
import { attack, REPEATED } from './harness.ts'
import { httpsRows } from './https-rows.ts'
import {
  type HttpsTarget,
  type Served,
  startGateway,
  startHttpsTarget,
  startServe,
} from './https-targets.ts'

const TARGETS: readonly {
  readonly name: string
  readonly start: (folder: string) => Promise<Served>
  readonly skip: string | false
  /** Memory after an attack, as a multiple of that before. Bun's starts low, at 95 MiB. */
  readonly memoryMax?: number
}[] = [
  { name: 'kubedoh serve', start: startServe, skip: false },
  { name: 'kubedoh gateway on Node', start: (folder) => startGateway(folder), skip: false },
  {
    name: 'kubedoh gateway on Bun',
    start: (folder) => startGateway(folder, { command: [BUN.command, ...BUN.args] }),
    skip: missingRuntime(BUN),
    memoryMax: 1.5,
  },
]
/** In CI, the gateway stands for `serve`: both have the same server of HTTPS. */
const IS_SHORT = process.env.CI !== undefined
/** The rows' names and their number do not depend on the server. */
const ROWS = httpsRows({ port: 0, name: 'x', token: '' })

if (IS_SHORT)
  console.log('left out: kubedoh serve under attack by HTTPS; without CI the suite has it')
for (const { name, start, skip, memoryMax } of IS_SHORT ? TARGETS.slice(1) : TARGETS) {
  describeUnless(skip, `${name} under attack by HTTPS`, () => {
    const folder = mkdtempSync(join(tmpdir(), 'kubedoh-attack-'))
    let running: HttpsTarget | undefined
    beforeAll(async () => {
      process.stdout.write(`${name}\n`)
      running = await startHttpsTarget(folder, start)
    })
    afterAll(async () => {
      await running?.target.stop()
      rmSync(folder, { recursive: true })
    })
    for (const [index, row] of ROWS.entries()) {
      test(`${row.name}: ${row.volume}`, REPEATED, async () => {
        if (running === undefined) throw new Error('the program did not start')
        const { target, attacked } = running
        await attack(target, {
          ...(httpsRows(attacked)[index] ?? row),
          ...(memoryMax && { memoryMax }),
        })
      })
    }
  })
}
