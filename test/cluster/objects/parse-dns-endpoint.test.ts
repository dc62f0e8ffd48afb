import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import type { HostName } from '../../../src/cluster/objects/objects.ts'
import { HostGroups } from '../../../src/cluster/trees/host-groups.ts'
import { formatHosts, hostsTree, objectsOf } from '../naming.ts'

function endpointOf(fields: string): string {
  return `- { kind: DNSEndpoint, metadata: { name: a, namespace: shop }, spec: { endpoints: [{ ${fields} }] } }`
}

function hostOf(fields: string): HostName | undefined {
  const [object] = objectsOf(endpointOf(fields))
  assert.ok(object?.kind === 'DNSEndpoint')
  return object.hosts[0]
}

describe('a DNSEndpoint', () => {
  test('has addresses, CNAMEs and texts, with their TTL', () => {
    assert.deepEqual(
      hostOf('dnsName: A.test., recordType: A, targets: [203.0.113.1, ""], recordTTL: 7'),
      { name: 'a.test', targets: ['203.0.113.1'], texts: [], ttlSeconds: 7 },
    )
    assert.deepEqual(hostOf('dnsName: c.test, recordType: CNAME, targets: [lb.test]'), {
      name: 'c.test',
      targets: ['lb.test'],
      texts: [],
      isAlias: true,
    })
    assert.deepEqual(hostOf('dnsName: t.test, recordType: TXT, targets: [hello]')?.texts, ['hello'])
  })

  const records: { type: string; target: string; line: string }[] = [
    { type: 'MX', target: '10 mx.example.net', line: '60 MX 10 mx.example.net.' },
    { type: 'SRV', target: '0 50 80 web.a.test', line: '60 SRV 0 50 80 web.a.test.' },
    {
      type: 'NAPTR',
      target: '100 10 "u" "E2U+sip" "!^.*$!sip:a@b.test!" .',
      line: '60 NAPTR 100 10 "u" "E2U+sip" "!^.*$!sip:a@b.test!" .',
    },
    { type: 'CAA', target: '0 issue "ca.example.net"', line: '60 CAA 0 issue "ca.example.net"' },
    { type: 'HTTPS', target: '1 . alpn=h2', line: '60 HTTPS 1 . alpn="h2"' },
    { type: 'PTR', target: 'web.a.test', line: '60 PTR web.a.test.' },
  ]
  for (const { type, target, line } of records) {
    test(`has ${type} records`, () => {
      const groups = new HostGroups(hostsTree())
      const fields = `dnsName: x.a.test, recordType: ${type}, targets: ['${target}']`
      for (const object of objectsOf(endpointOf(fields))) groups.set(object)
      groups.takeChanged()
      assert.deepEqual(formatHosts(groups.entriesOf('x.a.test')), [`x.a.test ${line}`])
      assert.deepEqual(groups.warnings(), [])
    })
  }

  const wrong: { fields: string; warning: string }[] = [
    {
      fields: "recordType: MX, targets: ['x y z']",
      warning: 'x.a.test: a MX record cannot be "x y z"',
    },
    {
      fields: 'recordType: A, targets: [192.0.2.4.]',
      warning: 'x.a.test: a record of type A cannot be "192.0.2.4."',
    },
    {
      fields: 'recordType: NS, targets: [ns.test]',
      warning: 'x.a.test: "NS" is not a type of records that can be published',
    },
    {
      fields: 'recordType: NONE, targets: [x]',
      warning: 'x.a.test: "NONE" is not a type of records that can be published',
    },
    {
      fields: 'recordType: AAAA, targets: [lb.test]',
      warning: 'x.a.test: a record of type AAAA cannot be "lb.test"',
    },
  ]
  for (const { fields, warning } of wrong) {
    test(`warns: ${warning}`, () => {
      const groups = new HostGroups(hostsTree())
      for (const object of objectsOf(endpointOf(`dnsName: x.a.test, ${fields}`))) groups.set(object)
      assert.deepEqual(groups.warnings(), [`DNSEndpoint shop/a: ${warning}`])
      assert.deepEqual(groups.entriesOf('x.a.test'), [])
    })
  }

  test('with a TTL that is none is refused', () => {
    assert.throws(
      () => objectsOf(endpointOf('dnsName: x.a.test, recordType: A, recordTTL: -1')),
      /recordTTL is -1, expected a number from 0 to/,
    )
  })
})
