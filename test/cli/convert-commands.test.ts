import assert from 'node:assert/strict'
import { test } from 'vitest'
import { COMMANDS } from '../../src/cli/commands.ts'
import { CONVERT_COMMANDS } from '../../src/cli/convert-commands.ts'
import { runCli } from './run-cli.ts'

test('CONVERT_COMMANDS are among the commands, and convert files', () => {
  for (const command of CONVERT_COMMANDS) {
    assert.ok(COMMANDS.includes(command))
    assert.match(command.name, /^convert [a-z-]+$/)
    assert.deepEqual(command.args, ['FILE...'])
  }
})

test('their help lists every value of --set', async () => {
  for (const { name, flags = [], notes = [] } of CONVERT_COMMANDS) {
    const { stdout } = await runCli([...name.split(' '), '--help'])
    for (const note of notes) assert.ok(stdout.includes(`\n${note}\n`), note)
    assert.equal(
      notes.some((note) => note.startsWith('--set ')),
      flags.includes('set'),
    )
  }
})
