import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { COMMANDS } from '../../src/cli/commands.ts'
import { runCli } from './run-cli.ts'

describe('main', () => {
  const usage: { name: string; args: readonly string[]; line: string }[] = [
    { name: 'a command that there is not', args: ['sing'], line: "unknown command 'sing'" },
    { name: 'the same in a group', args: ['snapshot', 'a'], line: "unknown command 'a'" },
    { name: 'an option that there is not', args: ['-v'], line: "unknown option '-v'" },
    {
      name: 'a flag of another command',
      args: ['check', 'Corefile', '--once'],
      line: "unknown option '--once'",
    },
    {
      name: 'a flag without its value',
      args: ['serve', '--conf'],
      line: "option '--conf <COREFILE>' argument missing",
    },
    { name: 'a missing argument', args: ['query'], line: "missing required argument 'NAME'" },
    {
      name: 'an argument too many',
      args: ['keys', 'a', 'b'],
      line: "too many arguments for 'keys'. Expected 1 argument but got 2: a, b.",
    },
    { name: 'a missing flag', args: ['serve'], line: '--conf is needed' },
    { name: 'a flag that is empty', args: ['serve', '--conf', ''], line: '--conf is needed' },
    {
      name: 'the second missing flag',
      args: ['snapshot', 'build', '--objects', 'a'],
      line: '--out is needed',
    },
    {
      name: 'a repeated flag that is empty each time',
      args: ['snapshot', 'build', '--objects', '', '--out', 'a'],
      line: '--objects is needed',
    },
  ]
  for (const { name, args, line } of usage) {
    test(`tells of wrong usage in one line, and who tells more: ${name}`, async () => {
      const stderr = `kubedoh: ${line}\n(--help tells more)\n`
      assert.deepEqual(await runCli(args), { status: 2, stdout: '', stderr })
    })
  }

  test('takes a needed flag from the environment', async () => {
    const needed = await runCli(['export', '--cluster', 'a'])
    assert.equal(needed.stderr, 'kubedoh: --gateway is needed\n(--help tells more)\n')
    const environment = { KUBEDOH_GATEWAY: 'https://dns.example.org' }
    const { status, stderr } = await runCli(['export', '--cluster', 'a'], environment)
    assert.equal(status, 1)
    assert.match(stderr, /^kubedoh: KUBEDOH_TOKEN is not set; .*\n$/)
  })

  test('prints the version of the package', async () => {
    const path = join(import.meta.dirname, '../../package.json')
    const { version }: { version: unknown } = JSON.parse(readFileSync(path, 'utf8'))
    assert.deepEqual(await runCli(['--version']), {
      status: 0,
      stdout: `${version}\n`,
      stderr: '',
    })
  })

  test('prints what commands there are when it is asked for nothing', async () => {
    const { status, stdout, stderr } = await runCli([])
    assert.deepEqual([status, stderr], [0, ''])
    assert.deepEqual(await runCli(['--help']), { status, stdout, stderr })
    for (const { name } of COMMANDS) {
      const [first = ''] = name.split(' ')
      assert.match(stdout, new RegExp(`^  ${first} `, 'm'))
    }
  })

  test('prints what a group has when it is asked for none of it', async () => {
    const { status, stdout, stderr } = await runCli(['snapshot'])
    assert.deepEqual([status, stdout], [2, ''])
    for (const name of ['build', 'dump']) assert.match(stderr, new RegExp(`^  ${name} `, 'm'))
  })

  test('gives a command the last of several values, or all where it says so', async () => {
    const args = ['serve', '--workers', '7', '--workers', '0', '--conf', 'none']
    const { stderr } = await runCli(args)
    assert.equal(stderr, 'kubedoh: --workers is "0", expected 1 to 256\n')
    const build = ['snapshot', 'build', '--objects', '/none/a', '--out', '/none/out']
    const ran = await runCli([...build, '--objects', '/none/b'])
    assert.equal(ran.stderr, 'kubedoh: /none/a: no such file or folder\n')
  })
})
