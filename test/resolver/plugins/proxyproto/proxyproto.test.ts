import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import type { ProxyHeaders } from '../../../../src/resolver/contract/feature.ts'
import { directive, problemsOf, serve } from '../../../ask.ts'

const served = (...lines: string[]): string => `. {\n  ${lines.join('\n  ')}\n  whoami\n}`

function headers(...lines: string[]): ProxyHeaders {
  const [listener] = serve(served(...lines)).resolver.listeners
  return listener?.proxy ?? assert.fail('no headers')
}

describe('proxyproto has the policy', () => {
  const cases: { line: string; own: string; other: string }[] = [
    { line: 'proxyproto', own: 'use', other: 'use' },
    { line: directive('proxyproto', 'allow'), own: 'use', other: 'use' },
    { line: directive('proxyproto', 'allow 127.0.0.1/8 ::1/128'), own: 'use', other: 'ignore' },
    {
      line: directive('proxyproto', 'allow 10.0.0.0/8', 'allow 127.0.0.0/8', 'default reject'),
      own: 'use',
      other: 'reject',
    },
    { line: directive('proxyproto', 'default SKIP'), own: 'skip', other: 'skip' },
    {
      line: directive('proxyproto', 'allow 127.0.0.0/8', 'default use', 'default skip'),
      own: 'use',
      other: 'skip',
    },
  ]
  for (const { line, own, other } of cases) {
    test(line.replaceAll(/\s+/g, ' '), () => {
      const { policyOf } = headers(line)
      const all = ['127.0.0.2', '::ffff:127.0.0.2', '192.0.2.1'].map(policyOf)
      assert.deepEqual(all, [own, own, other])
    })
  }
})

test('several directives of a block are one', () => {
  const { policyOf } = headers(
    directive('proxyproto', 'allow 10.0.0.0/8'),
    directive('proxyproto', 'allow 127.0.0.0/8'),
  )
  assert.deepEqual(['10.0.0.1', '127.0.0.1', '192.0.2.1'].map(policyOf), ['use', 'use', 'ignore'])
})

test('a port has the headers of its last block', () => {
  const corefile =
    'a.test {\n  proxyproto\n  whoami\n}\nb.test {\n  proxyproto {\n    default skip\n  }\n  whoami\n}'
  const [listener] = serve(corefile).resolver.listeners
  assert.equal(listener?.proxy?.policyOf('192.0.2.1'), 'skip')
  const [without] = serve(served()).resolver.listeners
  assert.equal(without?.proxy, undefined)
})

test('datagrams without a header may have one before', () => {
  const { sessionMs, sessionsMax } = headers('proxyproto')
  assert.deepEqual([sessionMs, sessionsMax], [0, 10_240])
  const some = headers(directive('proxyproto', 'udp_session_tracking 28s 500'))
  assert.deepEqual([some.sessionMs, some.sessionsMax], [28_000, 500])
})

describe('proxyproto refuses', () => {
  const cases: [string, string][] = [
    ['proxyproto on', ':2:14: "proxyproto" takes no arguments, got "on"'],
    [
      directive('proxyproto', 'allow 10.0.0.1'),
      ':3:11: "10.0.0.1" is not a network such as 192.0.2.0/24',
    ],
    [directive('proxyproto', 'default'), ':3:5: "default" takes 1 argument(s), got 0'],
    [
      directive('proxyproto', 'default require'),
      ':3:13: "require" is not one of use, ignore, reject, skip',
    ],
    [
      directive('proxyproto', 'udp_session_tracking'),
      ':3:5: "udp_session_tracking" takes a duration and a number of sessions',
    ],
    [
      directive('proxyproto', 'udp_session_tracking 1s 2 3'),
      ':3:5: "udp_session_tracking" takes a duration and a number of sessions',
    ],
    [
      directive('proxyproto', 'udp_session_tracking soon'),
      ':3:26: "soon" is not a duration such as 30s, 1m30s or 500ms',
    ],
    [
      directive('proxyproto', 'udp_session_tracking 1s 0'),
      ':3:29: "0" is not a number from 1 to 1000000',
    ],
    [
      directive('proxyproto', 'udp_session_tracking 1s -1'),
      ':3:29: "-1" is not a number from 1 to 1000000',
    ],
    [
      directive('proxyproto', 'allowed'),
      ':3:5: "proxyproto" has no option "allowed"; did you mean "allow"?',
    ],
  ]
  for (const [line, problem] of cases) {
    test(line.replaceAll(/\s+/g, ' '), () => {
      assert.deepEqual(problemsOf(served(line)), [`Corefile${problem}`])
    })
  }
})
