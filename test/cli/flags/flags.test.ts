import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { FLAGS, type FlagName, Input } from '../../../src/cli/flags/flags.ts'

/** What a command was given, flag by flag. */
function inputOf(
  given: Readonly<Partial<Record<FlagName, readonly string[]>>>,
  environment: Readonly<Record<string, string | undefined>> = {},
): Input {
  return new Input(['a', 'b'], new Map(Object.entries(given)), environment)
}

describe('the value of a flag', () => {
  const cases: {
    name: string
    flag: FlagName
    given?: readonly string[]
    environment?: Readonly<Record<string, string>>
    text: string
  }[] = [
    { name: 'is what was given', flag: 'conf', given: ['a'], text: 'a' },
    { name: 'is what was given last', flag: 'conf', given: ['a', 'b'], text: 'b' },
    { name: 'is its default', flag: 'dns.port', text: '53' },
    { name: 'is its default when it is empty', flag: 'dns.port', given: [''], text: '53' },
    { name: 'is nothing without a default', flag: 'conf', text: '' },
    {
      name: 'comes from its variable',
      flag: 'server',
      environment: { KUBEDOH_SERVER: 'e' },
      text: 'e',
    },
    {
      name: 'comes from its variable when it is empty',
      flag: 'server',
      given: [''],
      environment: { KUBEDOH_SERVER: 'e' },
      text: 'e',
    },
    {
      name: 'counts before its variable',
      flag: 'server',
      given: ['a'],
      environment: { KUBEDOH_SERVER: 'e' },
      text: 'a',
    },
    {
      name: 'does not come from a variable of like name',
      flag: 'conf',
      environment: { KUBEDOH_CONF: 'e', conf: 'e' },
      text: '',
    },
  ]
  for (const { name, flag, given, environment, text } of cases) {
    test(name, () => {
      const input = inputOf(given === undefined ? {} : { [flag]: given }, environment)
      assert.equal(input.text(flag), text)
    })
  }
})

describe('other input of a command', () => {
  test('has the non-empty values of a repeated flag in order', () => {
    assert.deepEqual(inputOf({ objects: ['b', '', 'a'] }).texts('objects'), ['b', 'a'])
    assert.deepEqual(inputOf({}).texts('objects'), [])
  })

  test('knows whether a boolean flag was given, or its variable is 1', () => {
    const input = inputOf({ once: [''] })
    assert.deepEqual([input.isSet('once'), input.isSet('json')], [true, false])
    for (const [value, isSet] of [
      ['1', true],
      ['0', false],
      ['', false],
      ['true', false],
    ] as const) {
      assert.equal(inputOf({}, { KUBEDOH_QUIET: value }).isSet('quiet'), isSet)
    }
  })

  test('has the positional arguments', () => {
    assert.deepEqual(inputOf({}).args, ['a', 'b'])
  })

  test('has the environment, with empty unset variables', () => {
    const input = inputOf({}, { LOCAL_IPS: '192.0.2.1', KUBEDOH_TOKEN: undefined })
    assert.equal(input.env('LOCAL_IPS'), '192.0.2.1')
    assert.equal(input.env('KUBEDOH_TOKEN'), '')
  })
})

describe('the flags', () => {
  test('have no default or repetition if boolean', () => {
    for (const flag of Object.values(FLAGS)) {
      if (flag.value !== undefined) continue
      assert.deepEqual([flag.default, flag.isRepeated], [undefined, undefined])
    }
  })

  test('take secrets from the environment, which process lists do not show', () => {
    assert.equal(FLAGS.token.env, 'KUBEDOH_CLIENT_TOKEN')
    assert.match(FLAGS['signing-key'].help, /KUBEDOH_SIGNING_KEY/)
  })
})
