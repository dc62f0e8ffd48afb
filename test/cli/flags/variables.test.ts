import assert from 'node:assert/strict'
import { test } from 'vitest'
import { COMMANDS } from '../../../src/cli/commands.ts'
import { FLAGS } from '../../../src/cli/flags/flags.ts'
import { VARIABLES, variablesOf } from '../../../src/cli/flags/variables.ts'
import { codes, read, section, tableRows } from '../../docs/pages.ts'
import { runCli } from '../run-cli.ts'

for (const { name } of COMMANDS) {
  const variables = variablesOf(name)
  if (variables.length === 0) continue
  test(`the help of ${name} lists its variables`, async () => {
    const { stdout } = await runCli([...name.split(' '), '--help'])
    const listed = stdout.slice(stdout.indexOf('\nVariables:\n'))
    for (const { name: variable, help } of variables) {
      assert.ok(listed.includes(`\n  ${variable}  ${help}\n`), variable)
    }
  })
}

test('each variable is read by commands that exist', () => {
  const known = COMMANDS.flatMap(({ name }) => [name, name.split(' ')[0]])
  for (const { readBy } of VARIABLES) for (const one of readBy) assert.ok(known.includes(one), one)
})

test('docs/environment.md names the same commands', () => {
  const ofFlags = Object.values(FLAGS).map(({ env }) => env)
  const rows = tableRows(section(read('docs/environment.md'), '## kubedoh')).map(
    ([name = '', users = '']) => [codes(name)[0] ?? '', codes(users)] as const,
  )
  const own = rows.filter(([name, users]) => !ofFlags.includes(name) && users[0] !== 'bin/kubedoh')
  const expected = VARIABLES.filter(({ name }) => !name.includes(',')).map(
    ({ name, readBy }) => [name, readBy.map((one) => (one === 'token' ? 'token …' : one))] as const,
  )
  assert.deepEqual(new Map(expected), new Map(own))
})
