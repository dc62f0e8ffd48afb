/**
 * The completion scripts and the manual page, each read by the program that users have. Run by
 * `npm run test:clients`.
 * @module
 */
import { deepEqual } from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, it } from 'vitest'
import { describeUnless } from '../describe-unless.ts'
import { findMissing } from './programs.ts'
import { RUN } from './tls-gateway.ts'

const PROGRAMS = {
  zsh: { written: ['completion', 'zsh'], args: ['-n'] },
  fish: { written: ['completion', 'fish'], args: ['-n'] },
  groff: { written: ['man'], args: ['-man', '-ww', '-Kutf8', '-Tutf8'] },
} as const

const folder = mkdtempSync(join(tmpdir(), 'kubedoh-shells-'))
afterAll(() => rmSync(folder, { recursive: true }))

for (const [program, { written, args }] of Object.entries(PROGRAMS)) {
  describeUnless(findMissing(program), program, () => {
    it(`reads what kubedoh ${written.join(' ')} writes`, () => {
      const file = join(folder, program)
      writeFileSync(file, spawnSync(process.execPath, [RUN, ...written]).stdout)
      const { status, stderr } = spawnSync(program, [...args, file], { encoding: 'utf8' })
      deepEqual([status, stderr], [0, ''])
    })
  })
}
