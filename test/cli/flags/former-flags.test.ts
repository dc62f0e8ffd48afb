import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, test } from 'vitest'
import { COMMANDS } from '../../../src/cli/commands.ts'
import {
  FORMER_FLAGS,
  type FormerFlag,
  formerFlagsOf,
  withSuccessor,
} from '../../../src/cli/flags/former-flags.ts'
import { variablesOf } from '../../../src/cli/flags/variables.ts'
import { runCli } from '../run-cli.ts'

const KUBEDOH = join(import.meta.dirname, '../../../bin/kubedoh')

describe('the flags of a command', () => {
  for (const { name, flags = [] } of COMMANDS) {
    // NodeLocal DNSCache, which it replaces, has 20.
    if (name === 'node-cache') continue
    // Every server has --log-format; the gateway's second listener needs a flag as its first one.
    const own = flags.filter((flag) => flag !== 'log-format' && flag !== 'dot.listen')
    test(`are at most 8: ${name}`, () => {
      assert.ok(own.length <= 8, own.join(', '))
    })
  }
})

describe('a former flag', () => {
  const cases = COMMANDS.flatMap((command) =>
    formerFlagsOf(command.name).map((flag) => ({ ...command, flag })),
  )

  test('is one of a command that exists', () => {
    const found = new Set<FormerFlag>(cases.map(({ flag }) => flag))
    assert.deepEqual(found, new Set(FORMER_FLAGS))
  })

  for (const { name, args = [], flags = [], flag } of cases) {
    test(`is taken with a warning that names its successor: ${name} --${flag.name}`, async () => {
      assert.ok(!flags.some((visible) => visible === flag.name))
      const own = flag.value === undefined ? [`--${flag.name}`] : [`--${flag.name}`, '']
      const needed = args.filter((arg) => !arg.startsWith('[')).map(() => '1')
      // So that no command gets further than its input.
      const wrong = (['conf', 'gateway'] as const).flatMap((one) =>
        flags.includes(one) ? [`--${one}`, '/none'] : [],
      )
      const { stderr } = await runCli([...name.split(' '), ...needed, ...own, ...wrong])
      const [first = '', ...more] = stderr.split('\n')
      const warning = `the next version has no --${flag.name}; use ${flag.successor}`
      assert.equal(first, `kubedoh: warning: ${warning}`)
      assert.ok(!more.some((line) => line.includes('warning: ')))
    })

    test(`is hidden, and its successor is in the help: ${name} --${flag.name}`, async () => {
      const { stdout } = await runCli([...name.split(' '), '--help'])
      assert.doesNotMatch(stdout, new RegExp(`^  --${flag.name}\\b`, 'm'))
      const [to = ''] = flag.successor.split(/[= ]/)
      if (/^[A-Z]/.test(to)) assert.ok(variablesOf(name).some((one) => one.name === to))
      if (to.startsWith('--')) assert.match(stdout, new RegExp(`^  ${to} <`, 'm'))
    })
  }
})

describe('the value of a former flag', () => {
  const former = (name: string): FormerFlag => {
    const [flag] = FORMER_FLAGS.filter((one) => one.name === name)
    assert.ok(flag)
    return flag
  }
  const GIVEN = {
    args: ['a'],
    flags: new Map([['allow', ['explain']]]),
    environment: { KUBEDOH_LEASE: 'a/b' },
  }
  const cases: {
    name: string
    flag: string
    values: readonly string[]
    becomes: { args?: string[]; allow?: string[]; environment?: Readonly<Record<string, string>> }
  }[] = [
    {
      name: 'wins over the variable',
      flag: 'lease',
      values: ['c/d'],
      becomes: { environment: { KUBEDOH_LEASE: 'c/d' } },
    },
    { name: 'leaves the variable if it is empty', flag: 'lease', values: [''], becomes: {} },
    {
      name: 'that has none is 1',
      flag: 'quiet',
      values: [''],
      becomes: { environment: { ...GIVEN.environment, KUBEDOH_QUIET: '1' } },
    },
    {
      name: 'that is repeated has commas',
      flag: 'domain',
      values: ['a.test', 'b.test'],
      becomes: { environment: { ...GIVEN.environment, KUBEDOH_KIT_DOMAINS: 'a.test,b.test' } },
    },
    {
      name: 'joins those of a flag',
      flag: 'identity',
      values: ['access:a', 'access:b'],
      becomes: { allow: ['explain', 'access:a', 'access:b'] },
    },
    {
      name: 'is the one of the table',
      flag: 'recurse',
      values: [''],
      becomes: { allow: ['explain', 'recurse'] },
    },
    { name: 'is an argument', flag: 'name', values: ['ci'], becomes: { args: ['a', 'ci'] } },
  ]
  for (const { name, flag, values, becomes } of cases) {
    test(`${name}: --${flag}`, () => {
      const flags = new Map([...GIVEN.flags, [flag, values] as const])
      const { args, environment, ...given } = withSuccessor({ ...GIVEN, flags }, former(flag))
      assert.deepEqual(args, becomes.args ?? GIVEN.args)
      assert.deepEqual(given.flags.get('allow'), becomes.allow ?? ['explain'])
      assert.deepEqual(environment, becomes.environment ?? GIVEN.environment)
    })
  }
})

describe('a process with a former flag', () => {
  const gateway = ['--gateway', 'http://127.0.0.1:9', '--cluster', 'a']
  const cases = [
    {
      args: ['serve', '-conf', '/none', '-linger=60'],
      warns: '--linger; use KUBEDOH_LINGER',
      error: 'KUBEDOH_LINGER is "60", expected 0s to 1h, such as 60s',
    },
    {
      args: ['export', ...gateway, '--lease', 'kubedoh'],
      warns: '--lease; use KUBEDOH_LEASE',
      error: 'KUBEDOH_LEASE "kubedoh": use NAMESPACE/NAME, such as kube-system/kubedoh',
    },
  ]
  for (const { args, warns, error } of cases) {
    test(`warns in one line and takes its value: ${args.join(' ')}`, () => {
      const { status, stdout, stderr } = spawnSync(KUBEDOH, args, { encoding: 'utf8' })
      const warning = `kubedoh: warning: the next version has no ${warns}`
      assert.deepEqual([stdout, stderr], ['', `${warning}\nkubedoh: ${error}\n`])
      assert.equal(status, 1)
    })
  }
})
