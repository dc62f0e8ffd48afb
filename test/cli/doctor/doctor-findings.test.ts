import assert from 'node:assert/strict'
import { test } from 'vitest'
import { ok, printDoctorFindings, problem } from '../../../src/cli/doctor/doctor-findings.ts'
import { Screen } from '../run-cli.ts'

test('findings have one line each, and their next step below; controls are escaped', () => {
  const screen = new Screen()
  printDoctorFindings([ok('server', 'fine'), problem('loop', 'a\x1b[2Jb', 'mend it')], screen)
  assert.equal(
    screen.text.stdout,
    'ok       server     fine\n' +
      'problem  loop       a\\u{1b}[2Jb\n' +
      '                    next: mend it\n',
  )
})
