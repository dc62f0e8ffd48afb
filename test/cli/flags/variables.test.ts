import assert from 'node:assert/strict'
import { test } from 'vitest'
import { COMMANDS } from '../../../src/cli/commands.ts'
import { FLAGS } from '../../../src/cli/flags/flags.ts'
import { isOf, VARIABLES, variablesOf } from '../../../src/cli/flags/variables.ts'
import { codes, read, section, tableRows } from '../../docs/pages.ts'
import { runCli } from '../run-cli.ts'

for (const { name } of COMMANDS) {
  const variables = variablesOf(name)
  if (variables.length === 0) continue
  test(`the help of ${name} lists its variables`, async () => {
    const { stdout } = await runCli([...name.split(' '), '--help'])
    const listed = stdout.slice(stdout.indexOf('\nEnvironment:\n'))
    for (const { name: variable, help } of variables) {
      assert.ok(listed.includes(`\n  ${variable}  ${help}\n`), variable)
    }
  })
}

test('each variable is read by commands that exist', () => {
  const known = COMMANDS.flatMap(({ name }) => [name, name.split(' ')[0]])
  for (const { readBy } of VARIABLES) for (const one of readBy) assert.ok(known.includes(one), one)
})

test('docs/environment.md names the commands that read each variable, or have its flag', () => {
  const rows = tableRows(section(read('docs/environment.md'), '## kubedoh'))
  const listed = rows.map(([name = '', users = '']) => {
    const words = codes(users).map((one) => one.replace(' …', ''))
    const commands = COMMANDS.filter((one) => isOf(one.name, words))
    return [codes(name)[0] ?? '', commands.map((one) => one.name)] as const
  })
  const expected = listed.map(([variable]) => {
    const commands = COMMANDS.filter(
      ({ name, flags = [] }) =>
        flags.some((flag) => FLAGS[flag].env === variable) ||
        variablesOf(name).some((one) => one.name === variable),
    )
    return [variable, commands.map((one) => one.name)] as const
  })
  assert.deepEqual(listed, expected)
  const known = VARIABLES.filter(({ name }) => !name.includes(','))
  for (const { name } of known)
    assert.ok(
      listed.some(([variable]) => variable === name),
      name,
    )
})

test('no command has a variable twice: by a flag, and beside its flags', () => {
  for (const { name, flags = [] } of COMMANDS) {
    const twice = variablesOf(name).filter((one) => flags.some((it) => FLAGS[it].env === one.name))
    assert.deepEqual(twice, [], name)
  }
})
