import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { parseDnstap, type TapTarget } from '../../../../src/resolver/plugins/dnstap/setup.ts'
import { block, directive, parseDirective, problemsOf } from '../../../ask.ts'

function parse(head: string, ...options: readonly string[]): ReturnType<typeof parseDnstap> {
  return parseDnstap(parseDirective(directive(head, ...options)))
}

describe('the options of dnstap', () => {
  test('have defaults', () => {
    assert.deepEqual(parse('dnstap /tmp/tap.sock'), {
      target: { kind: 'unix', path: '/tmp/tap.sock' },
      queueMax: 10_000,
      isFull: false,
      identity: undefined,
      version: undefined,
      extra: '',
    })
  })

  test('are all read', () => {
    const options = ['identity me', 'version "my 1.0"', 'extra "{name}"', 'skipverify']
    assert.deepEqual(parse('dnstap tls://[2001:db8::1]:6000 full 1024 4096', ...options), {
      target: { kind: 'tls', host: '2001:db8::1', port: 6000, isVerified: false },
      queueMax: 40_960_000,
      isFull: true,
      identity: 'me',
      version: 'my 1.0',
      extra: '{name}',
    })
  })

  const targets: [socket: string, target: TapTarget][] = [
    ['unix:///run/tap', { kind: 'unix', path: '/run/tap' }],
    ['tap.sock', { kind: 'unix', path: 'tap.sock' }],
    ['tcp://127.0.0.1:6000', { kind: 'tcp', host: '127.0.0.1', port: 6000 }],
    [
      'tls://tap.example.org:6000',
      { kind: 'tls', host: 'tap.example.org', port: 6000, isVerified: true },
    ],
  ]
  for (const [socket, target] of targets) {
    test(`connect to ${socket}`, () => {
      assert.deepEqual(parse(`dnstap ${socket}`).target, target)
    })
  }

  const problems: { name: string; line: string; problem: string }[] = [
    {
      name: 'no socket',
      line: 'dnstap',
      problem: '3: "dnstap" needs a socket, such as /tmp/dnstap.sock or tcp://HOST:PORT',
    },
    {
      name: 'to listen',
      line: 'dnstap listen tcp://127.0.0.1:6000',
      problem: '10: "dnstap listen" is not supported: have the collector listen',
    },
    {
      name: 'a host without a port',
      line: 'dnstap tcp://tap.example.org',
      problem: '10: "tcp://tap.example.org" is not tcp://HOST:PORT',
    },
    {
      name: 'another word than full',
      line: 'dnstap tap.sock all',
      problem: '19: "dnstap" does not take "all": write "full" or leave it out',
    },
    {
      name: 'too large a buffer',
      line: 'dnstap tap.sock full 1025',
      problem: '24: "1025" is not a number from 1 to 1024',
    },
    {
      name: 'too large a queue',
      line: 'dnstap tap.sock full 1 4097',
      problem: '26: "4097" is not a number from 1 to 4096',
    },
  ]
  for (const { name, line, problem } of problems) {
    test(`refuse ${name}`, () => {
      assert.deepEqual(problemsOf(block(line)), [`Corefile:2:${problem}`])
    })
  }

  test('refuse what they do not know, and labels that are too long', () => {
    const options = ['tls cert key', `identity ${'x'.repeat(256)}`]
    const found = options.map(
      (option) => problemsOf(block(directive('dnstap tap.sock', option)))[0],
    )
    assert.deepEqual(found, [
      'Corefile:3:5: "dnstap" has no option "tls"; it has identity, version, extra, skipverify',
      'Corefile:3:5: "identity" is over 255 characters',
    ])
  })
})
