import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { dnsDataOf, managementOf } from '../../../src/operators/openshift/dns-object.ts'
import { AUTHORITY } from '../../certificates.ts'

const tls = { serverName: 'dns.example', caBundle: { name: 'corp' } }
const upstreamResolvers = {
  upstreams: [{ type: 'Network', address: '192.0.2.53' }],
  transportConfig: { transport: 'TLS', tls },
}
const KIND = { apiVersion: 'operator.openshift.io/v1', kind: 'DNS' }

describe('dnsDataOf', () => {
  const faults: { name: string; dns: unknown; bundle?: unknown; fault: RegExp }[] = [
    { name: 'no object', dns: undefined, fault: /^NoDNS: there is no dnses/ },
    {
      name: 'a list instead of a spec',
      dns: { ...KIND, spec: { servers: {} } },
      fault: /^InvalidDNS: /,
    },
    {
      name: 'a missing CA bundle',
      dns: { ...KIND, spec: { upstreamResolvers } },
      fault: /^InvalidCABundle: ConfigMap openshift-config\/corp, key ca-bundle.crt: missing$/,
    },
    {
      name: 'a CA bundle that is no certificate',
      dns: { ...KIND, spec: { upstreamResolvers } },
      bundle: 'hello',
      fault: /^InvalidCABundle: .*: not a certificate in PEM: /,
    },
    {
      name: 'a CA bundle that is too long',
      dns: { ...KIND, spec: { upstreamResolvers } },
      bundle: AUTHORITY.repeat(1000),
      fault: /^InvalidCABundle: .*: longer than 262144 characters$/,
    },
  ]
  for (const { name, dns, bundle, fault } of faults) {
    it(`says why there is no Corefile: ${name}`, () => {
      const outcome = dnsDataOf(dns, new Map([['corp', { 'ca-bundle.crt': bundle }]]))
      assert.ok('reason' in outcome)
      assert.match(`${outcome.reason}: ${outcome.message}`, fault)
    })
  }

  it('reads each CA bundle once, and none without TLS', () => {
    const clear = { ...upstreamResolvers, transportConfig: { transport: 'Cleartext' } }
    const bundles = new Map([['corp', { 'ca-bundle.crt': AUTHORITY }]])
    const keysOf = (spec: object): string[] => {
      const outcome = dnsDataOf({ ...KIND, spec }, bundles)
      return 'reason' in outcome ? [outcome.message] : Object.keys(outcome.data)
    }
    assert.deepEqual(keysOf({ upstreamResolvers }), ['Corefile', 'ca-corp.crt'])
    assert.deepEqual(keysOf({ upstreamResolvers: clear }), ['Corefile'])
  })
})

describe('managementOf', () => {
  it('manages unless it is Unmanaged', () => {
    const of = (spec: unknown): boolean => managementOf({ ...KIND, spec }).isManaged
    assert.deepEqual([undefined, {}, { managementState: 'Force' }].map(of), [true, true, true])
    assert.equal(of({ managementState: 'Unmanaged' }), false)
  })

  it('logs every change at the levels Debug and Trace', () => {
    const of = (level: string): boolean =>
      managementOf({ spec: { operatorLogLevel: level } }).isVerbose
    assert.deepEqual(['Normal', 'Debug', 'Trace'].map(of), [false, true, true])
  })
})
