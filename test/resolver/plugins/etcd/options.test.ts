import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { parseEtcd } from '../../../../src/resolver/plugins/etcd/options.ts'
import { block, directive, parseDirective, problemsOf } from '../../../ask.ts'
import { FakeHost } from '../../../fake-host.ts'

const PEM = '-----BEGIN CERTIFICATE-----\n'
const FILES = { 'ca.pem': PEM, 'cert.pem': PEM, 'key.pem': '-----BEGIN PRIVATE KEY-----\n' }

function parse(...options: readonly string[]): ReturnType<typeof parseEtcd> {
  const line = directive('etcd example.org', ...options)
  return parseEtcd([parseDirective(line)], [], new FakeHost({ files: FILES }).readText)
}

describe('the options of etcd', () => {
  test('have defaults', () => {
    const { connection, fallthrough, leaseSecondsMin, leaseSecondsMax } = parse()
    assert.equal(connection.path, '/skydns')
    assert.deepEqual(connection.endpoints, ['http://localhost:2379'])
    assert.deepEqual(connection.tls, {})
    assert.equal(connection.credentials, undefined)
    assert.equal(fallthrough, undefined)
    assert.deepEqual([leaseSecondsMin, leaseSecondsMax], [30, 86_400])
  })

  test('take endpoints with or without a scheme, which "tls" decides', () => {
    const endpoints = 'endpoint http://a:2379 https://b.example.org:1/ [2001:db8::1]:2379'
    const plain = ['http://a:2379', 'https://b.example.org:1', 'http://[2001:db8::1]:2379']
    assert.deepEqual(parse(endpoints).connection.endpoints, plain)
    const [, , last] = parse('tls', endpoints).connection.endpoints
    assert.equal(last, 'https://[2001:db8::1]:2379')
  })

  test('take credentials, unless one is empty', () => {
    const { credentials } = parse('credentials me secret').connection
    assert.deepEqual(credentials, { username: 'me', password: 'secret' })
    assert.equal(parse('credentials me ""').connection.credentials, undefined)
  })

  test('take bounds of leases as seconds and as durations, 0 for the default', () => {
    const bounds = (least: string, most: string): number[] => {
      const parsed = parse(`min-lease-ttl ${least}`, `max-lease-ttl ${most}`)
      return [parsed.leaseSecondsMin, parsed.leaseSecondsMax]
    }
    assert.deepEqual(bounds('45', '1h30m'), [45, 5400])
    assert.deepEqual(bounds('1.5s', '999ms'), [1, 86_400])
    assert.deepEqual(bounds('0', '" 5m "'), [30, 300])
    assert.deepEqual(bounds('""', '4294967295'), [30, 4_294_967_295])
  })

  test('pass over what is of old', () => {
    assert.equal(parse('stubzones', 'debug', 'upstream 192.0.2.1 x').connection.path, '/skydns')
  })

  const problems: { name: string; options: string[]; problem: string }[] = [
    {
      name: 'an invalid word',
      options: ['endpoints http://a'],
      problem: 'Corefile:3:5: "etcd" has no option "endpoints"; did you mean "endpoint"?',
    },
    {
      name: 'no path',
      options: ['path'],
      problem: 'Corefile:3:5: "path" takes 1 argument(s), got 0',
    },
    {
      name: 'no endpoint',
      options: ['endpoint'],
      problem: 'Corefile:3:5: "endpoint" takes 1 or more argument(s), got 0',
    },
    {
      name: 'a user without a password',
      options: ['credentials me'],
      problem: 'Corefile:3:5: "credentials" takes 2 argument(s), got 1',
    },
    {
      name: 'an invalid endpoint',
      options: ['endpoint http://a:2379 unix:///run/etcd'],
      problem:
        'Corefile:3:28: "unix:///run/etcd" is not the URL of an etcd, such as http://etcd.example.org:2379',
    },
    {
      name: 'an invalid bound',
      options: ['min-lease-ttl soon'],
      problem: 'Corefile:3:19: "soon" is not a duration such as 30s, 1m30s or 500ms',
    },
    {
      name: 'a bound over 32 bits',
      options: ['max-lease-ttl 4294967296'],
      problem: 'Corefile:3:19: "4294967296" is over 4294967295 seconds',
    },
    {
      name: 'a missing file',
      options: ['tls nosuch.pem'],
      problem: 'Corefile:3:9: cannot read "nosuch.pem"',
    },
  ]
  for (const { name, options, problem } of problems) {
    test(`refuse ${name}`, () => {
      assert.deepEqual(problemsOf(block(directive('etcd', ...options))), [problem])
    })
  }
})
