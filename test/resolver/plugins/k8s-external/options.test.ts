import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import type { Directive } from '../../../../src/corefile/server-block.ts'
import { concatBytes } from '../../../../src/dns/bytes/bytes.ts'
import { formatName, nameOf, ROOT } from '../../../../src/dns/names/name.ts'
import {
  type ExternalOptions,
  parseExternal,
} from '../../../../src/resolver/plugins/k8s-external/options.ts'
import { block, directive, parseBlocks } from '../../../ask.ts'
import { problemsOf } from '../../../corefile/source.ts'

type Shown = Omit<ExternalOptions, 'zones' | 'apex' | 'fallthrough'> & {
  readonly zones: readonly string[]
  readonly apex: string
  readonly fallthrough: readonly string[] | undefined
}

function parse(...lines: readonly string[]): Shown {
  const [first, ...rest]: readonly Directive[] = parseBlocks(block(...lines))[0]?.directives ?? []
  if (first === undefined) throw new TypeError('No directive')
  const parsed = parseExternal([first, ...rest], [nameOf('block.test')])
  const format = (name: Uint8Array): string => formatName(name)
  return {
    ...parsed,
    zones: parsed.zones.map(format),
    apex: format(concatBytes(parsed.apex, ROOT)),
    fallthrough: parsed.fallthrough?.map(format),
  }
}

const DEFAULTS: Shown = {
  zones: ['block.test.'],
  apex: 'dns.',
  ttlSeconds: 5,
  cluster: undefined,
  hasEndpoints: false,
  fallthrough: undefined,
  notices: [],
}

describe('k8s_external takes', () => {
  const cases: { lines: readonly string[]; changes: Partial<Shown> }[] = [
    { lines: ['k8s_external'], changes: {} },
    { lines: ['k8s_external Ext.test a.test'], changes: { zones: ['ext.test.', 'a.test.'] } },
    { lines: [directive('k8s_external', 'apex Edge.')], changes: { apex: 'edge.' } },
    { lines: [directive('k8s_external', 'ttl 0')], changes: { ttlSeconds: 0 } },
    { lines: [directive('k8s_external', 'headless')], changes: { hasEndpoints: true } },
    { lines: [directive('k8s_external', 'headless yes')], changes: { hasEndpoints: true } },
    { lines: [directive('k8s_external', 'fallthrough')], changes: { fallthrough: ['.'] } },
    {
      lines: [directive('k8s_external', 'fallthrough a.test')],
      changes: { fallthrough: ['a.test.'] },
    },
    {
      lines: [directive('k8s_external', 'ttl 7 8')],
      changes: {
        ttlSeconds: 7,
        notices: [
          {
            file: 'Corefile',
            line: 3,
            column: 11,
            message: '"ttl" takes one argument; "8" is ignored',
          },
        ],
      },
    },
    {
      lines: [
        directive('k8s_external a.test', 'ttl 7'),
        directive('k8s_external b.test', 'apex x'),
      ],
      changes: { zones: ['b.test.'], ttlSeconds: 7, apex: 'x.' },
    },
  ]
  for (const { lines, changes } of cases) {
    test(lines.join(', '), () => {
      const parsed = parse(...lines)
      const notices = parsed.notices.filter(({ message }) => !message.startsWith('the zones of'))
      assert.deepEqual({ ...parsed, notices }, { ...DEFAULTS, ...changes })
    })
  }
})

test('k8s_external says that only the zones of the last directive count, as in CoreDNS', () => {
  const { notices } = parse('k8s_external a.test', 'k8s_external b.test')
  const message = 'the zones of this "k8s_external" have no effect: the last one\'s zones win'
  assert.deepEqual(notices, [{ file: 'Corefile', line: 2, column: 3, message }])
})

describe('k8s_external refuses', () => {
  const cases: { option: string; problem: string }[] = [
    { option: 'apex', problem: '3:5: "apex" takes 1 or more argument(s), got 0' },
    { option: 'apex a..b', problem: '3:10: "a..b" is not a name such as "dns"' },
    { option: 'apex .', problem: '3:10: "." is not a name such as "dns"' },
    { option: 'ttl', problem: '3:5: "ttl" takes 1 or more argument(s), got 0' },
    { option: 'ttl 3601', problem: '3:9: "3601" is not a number from 0 to 3600' },
    {
      option: 'headles',
      problem: '3:5: "k8s_external" has no option "headles"; did you mean "headless"?',
    },
  ]
  for (const { option, problem } of cases) {
    test(option, () => {
      assert.deepEqual(
        problemsOf(() => parse(directive('k8s_external', option))),
        [`Corefile:${problem}`],
      )
    })
  }
})
