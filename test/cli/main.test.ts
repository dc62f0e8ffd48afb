import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'vitest'
import { COMMANDS, PURPOSES } from '../../src/cli/commands.ts'
import { runCli } from './run-cli.ts'

describe('main', () => {
  const usage: { name: string; args: readonly string[]; line: string; use: string }[] = [
    {
      name: 'a command that there is not',
      args: ['sing'],
      line: "unknown command 'sing'",
      use: 'COMMAND',
    },
    {
      name: 'the same in a group',
      args: ['snapshot', 'a'],
      line: "unknown command 'a'",
      use: 'snapshot COMMAND',
    },
    {
      name: 'an option that there is not',
      args: ['-x'],
      line: "unknown option '-x'",
      use: 'COMMAND',
    },
    {
      name: 'a flag of another command',
      args: ['check', 'Corefile', '--once'],
      line: "unknown option '--once'",
      use: 'check [options] [COREFILE]',
    },
    {
      name: 'a flag without its value',
      args: ['serve', '--conf'],
      line: "option '--conf <COREFILE>' argument missing",
      use: 'serve [options]',
    },
    {
      name: 'the same with one dash, as in CoreDNS',
      args: ['serve', '-conf'],
      line: "option '--conf <COREFILE>' argument missing",
      use: 'serve [options]',
    },
    {
      name: 'a missing argument',
      args: ['query'],
      line: "missing required argument 'NAME'",
      use: 'query [options] <NAME> [TYPE]',
    },
    {
      name: 'a surplus argument',
      args: ['keys', 'a', 'b'],
      line: "too many arguments for 'keys'. Expected 1 argument but got 2: a, b.",
      use: 'keys [options] [CLUSTER]',
    },
    {
      name: 'keys of nothing',
      args: ['keys'],
      line: 'name a cluster, or give --admin, --read-only, --replica or --exchange',
      use: 'keys [options] [CLUSTER]',
    },
    {
      name: 'a missing flag',
      args: ['snapshot', 'build'],
      line: '--objects is required',
      use: 'snapshot build [options]',
    },
    {
      name: 'a flag that is empty',
      args: ['node-cache', '--localip', ''],
      line: '--localip is required',
      use: 'node-cache [options]',
    },
    {
      name: 'the second missing flag',
      args: ['snapshot', 'build', '--objects', 'a'],
      line: '--out is required',
      use: 'snapshot build [options]',
    },
    {
      name: 'help of an unknown command',
      args: ['help', 'nothing'],
      line: "unknown command 'nothing'",
      use: 'COMMAND',
    },
    {
      name: 'help of an unknown command of a group',
      args: ['help', 'token', 'nothing'],
      line: "unknown command 'token nothing'",
      use: 'COMMAND',
    },
    {
      name: 'a repeated flag that is empty each time',
      args: ['snapshot', 'build', '--objects', '', '--out', 'a'],
      line: '--objects is required',
      use: 'snapshot build [options]',
    },
  ]
  for (const { name, args, line, use } of usage) {
    test(`reports wrong usage in one line, and the usage in another: ${name}`, async () => {
      const stderr = `kubedoh: ${line}\nUsage: kubedoh ${use} (see --help)\n`
      assert.deepEqual(await runCli(args), { status: 2, stdout: '', stderr })
    })
  }

  test('takes a required flag from the environment', async () => {
    const needed = await runCli(['export', '--cluster', 'a'])
    assert.match(needed.stderr, /^kubedoh: --gateway is required, or KUBEDOH_GATEWAY\n/)
    const environment = { KUBEDOH_GATEWAY: 'https://dns.example.org' }
    const { status, stderr } = await runCli(['export', '--cluster', 'a'], environment)
    assert.equal(status, 1)
    assert.match(stderr, /^kubedoh: KUBEDOH_TOKEN is not set; .*\n$/)
  })

  test('prints the version of the package', async () => {
    const path = join(import.meta.dirname, '../../package.json')
    const { version }: { version: unknown } = JSON.parse(readFileSync(path, 'utf8'))
    for (const args of [['--version'], ['-v'], ['serve', '-version']]) {
      const printed = { status: 0, stdout: `${version}\n`, stderr: '' }
      assert.deepEqual(await runCli(args), printed)
    }
  })

  test('lists the commands by purpose without arguments', async () => {
    const { status, stdout, stderr } = await runCli([])
    assert.deepEqual([status, stderr], [0, ''])
    for (const word of ['-h', '--help', 'help']) {
      assert.deepEqual(await runCli([word]), { status, stdout, stderr })
    }
    const ofCommand = await runCli(['token', 'create', '--help'])
    assert.deepEqual(await runCli(['help', 'token', 'create']), ofCommand)
    for (const { title, commands } of PURPOSES) {
      const start = stdout.indexOf(`\n${title}:\n`)
      assert.ok(start > 0, title)
      const group = stdout.slice(start, stdout.indexOf('\n\n', start))
      for (const { name } of commands) assert.ok(group.includes(`\n  ${name.split(' ')[0]} `), name)
    }
  })

  const groups = [...new Set(COMMANDS.map(({ name }) => name.split(' ')[0] ?? ''))].filter((name) =>
    COMMANDS.every((command) => command.name !== name),
  )
  for (const words of [['nonsense'], ...groups.map((group) => [group, 'nonsense'])]) {
    test(`refuses the help of the unknown command "${words.join(' ')}"`, async () => {
      for (const flag of ['-h', '--help']) {
        for (const args of [
          [...words, flag],
          [flag, ...words],
          [...words, flag, 'more'],
        ]) {
          const { status, stdout, stderr } = await runCli(args)
          assert.deepEqual([args, status, stdout], [args, 2, ''])
          assert.match(stderr, /^kubedoh: unknown command '.*nonsense'\nUsage: kubedoh COMMAND/)
        }
      }
      assert.equal((await runCli(['help', ...words])).status, 2)
      assert.equal((await runCli([...words, '--version'])).status, 2)
    })
  }

  test('prints the help of a group for its word "help"', async () => {
    const ofGroup = await runCli(['token', '--help'])
    assert.equal(ofGroup.status, 0)
    for (const args of [
      ['token', 'help'],
      ['token', 'help', '--help'],
    ]) {
      assert.deepEqual(await runCli(args), ofGroup)
    }
    const ofCommand = await runCli(['token', 'create', '--help'])
    assert.deepEqual(await runCli(['token', 'help', 'create']), ofCommand)
    assert.equal((await runCli(['token', 'help', 'nonsense'])).status, 2)
  })

  test('leaves flags after "--" to other programs', async () => {
    const { status, stdout } = await runCli(['keys', '--', '--help'])
    assert.deepEqual([status, stdout], [1, ''])
  })

  test('prints the help of each command for -h', async () => {
    for (const { name } of COMMANDS) {
      const { status, stdout, stderr } = await runCli([...name.split(' '), '-h'])
      assert.deepEqual([status, stderr], [0, ''], name)
      assert.ok(stdout.startsWith(`Usage: kubedoh ${name} `), name)
    }
  })

  test('takes the flags of CoreDNS with one dash', async () => {
    const { stderr } = await runCli(['serve', '-dns.port=70000', '-conf', 'none'])
    assert.equal(stderr, 'kubedoh: --dns.port is "70000", expected 0 to 65535\n')
    const short = await runCli(['serve', '-p', '70001', '-quiet', '-pidfile', ''])
    assert.match(short.stderr, /^kubedoh: --dns.port is "70001", expected 0 to 65535\n$/m)
    const { status, stdout } = await runCli(['serve', '-plugins'])
    assert.equal(status, 0)
    assert.deepEqual(stdout.split('\n').slice(0, 2), ['dns.acl', 'dns.any'])
  })

  test('lists the commands of a group', async () => {
    const { status, stdout, stderr } = await runCli(['snapshot'])
    assert.deepEqual([status, stdout], [2, ''])
    for (const name of ['build', 'dump']) assert.match(stderr, new RegExp(`^  ${name} `, 'm'))
  })

  test('passes the last of several values, or all of a repeated flag', async () => {
    const args = ['serve', '--workers', '7', '--workers', '0', '--conf', 'none']
    const { stderr } = await runCli(args)
    assert.equal(stderr, 'kubedoh: --workers is "0", expected 1 to 256\n')
    const build = ['snapshot', 'build', '--objects', '/none/a', '--out', '/none/out']
    const ran = await runCli([...build, '--objects', '/none/b'])
    assert.equal(ran.stderr, 'kubedoh: /none/a: no such file or folder\n')
  })
})
