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
  /** Names of the rows that CI runs. */
  readonly short: RegExp
}[] = [
  // The gateway has the same server of HTTPS.
  { name: 'kubedoh serve', start: startServe, skip: false, short: /^$/ },
  {
    name: 'kubedoh gateway on Node',
    start: (folder) => startGateway(folder),
    skip: false,
    short: /./,
  },
  {
    name: 'kubedoh gateway on Bun',
    start: (folder) => startGateway(folder, { command: [BUN.command, ...BUN.args] }),
    skip: missingRuntime(BUN),
    memoryMax: 1.5,
    // Those that have filled its memory.
    short: /bodies|never read/,
  },
]
const IS_SHORT = process.env.CI !== undefined
/** The rows' names and their number do not depend on the server. */
const ROWS = httpsRows({ port: 0, name: 'x', token: '' })

for (const { name, start, skip, memoryMax, short } of TARGETS) {
  const rows = [...ROWS.entries()].filter(([, row]) => !IS_SHORT || short.test(row.name))
  const leftOut = ROWS.length - rows.length
  if (leftOut > 0)
    console.log(`left out: ${leftOut} rows of ${name}; without CI the suite has them`)
  if (rows.length === 0) continue
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
    for (const [index, row] of rows) {
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
