import assert from 'node:assert/strict'
import { test } from 'vitest'
import { COMMANDS } from '../../src/cli/commands.ts'
import { FLAGS } from '../../src/cli/flags/flags.ts'
import { runCli } from './run-cli.ts'

test('the manual page has each command with its examples, and each flag', async () => {
  const { status, stdout } = await runCli(['man'])
  assert.equal(status, 0)
  const text = stdout.replaceAll('\\-', '-').replaceAll('\\e', '\\').replaceAll('\\&', '')
  for (const { name, examples } of COMMANDS) {
    assert.match(text, new RegExp(`^\\.SS kubedoh ${name}\\b`, 'm'))
    for (const example of examples) assert.ok(text.includes(`\n${example}\n`), example)
  }
  for (const flag of Object.keys(FLAGS)) assert.match(text, new RegExp(`^\\.B .*--${flag}\\b`, 'm'))
})
