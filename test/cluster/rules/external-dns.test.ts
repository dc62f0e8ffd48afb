/**
 * The examples of external-dns's source tests, with `annotations` and all kinds of resources.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { HostGroups } from '../../../src/cluster/trees/host-groups.ts'
import { formatHosts, hostsTree, linesOf, objectsOf } from '../naming.ts'
import { EXTERNAL_DNS_CASES } from './external-dns-cases.ts'
import { EXTERNAL_DNS_RECORDS } from './external-dns-records.ts'

const TREE = hostsTree({
  // The root has each hostname as it is.
  zones: [''],
  resources: [
    'HTTPRoute',
    'TLSRoute',
    'GRPCRoute',
    'TCPRoute',
    'UDPRoute',
    'Ingress',
    'Service',
    'DNSEndpoint',
    'Node',
  ],
  annotations: ['external-dns.alpha.kubernetes.io/'],
})

const CASES = [...EXTERNAL_DNS_CASES, ...EXTERNAL_DNS_RECORDS]

function namesOf(objects: string): string[] {
  const groups = new HostGroups(TREE)
  for (const object of objectsOf(objects)) groups.set(object)
  return formatHosts(groups.takeChanged().flatMap((name) => groups.entriesOf(name)))
}

describe('external-dns', () => {
  for (const { name, objects, lines, differs } of CASES) {
    test(differs === undefined ? name : `${name} (differs: ${differs.why})`, () => {
      assert.deepEqual(namesOf(objects), linesOf(lines))
      if (differs !== undefined) assert.notDeepEqual(linesOf(differs.theirs), linesOf(lines))
    })
  }

  test('has 74 cases here, of which 11 differ on purpose', () => {
    const differing = CASES.filter(({ differs }) => differs !== undefined)
    assert.deepEqual([CASES.length, differing.length], [74, 11])
  })
})
