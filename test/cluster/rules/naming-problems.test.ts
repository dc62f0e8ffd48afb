import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { labelOf } from '../../../src/cluster/objects/labels.ts'
import {
  findServiceProblem,
  findSliceProblem,
  keepFitting,
} from '../../../src/cluster/rules/naming-problems.ts'
import { concatBytes } from '../../../src/dns/bytes/bytes.ts'
import { nameOf } from '../../../src/dns/names/name.ts'
import type { ZoneEntry } from '../../../src/snapshot/records/zone-entry.ts'
import { objectsOf, optionsOf } from '../naming.ts'

const LABEL = 'cannot be a DNS label (1 to 63 letters, digits, "-" and "_")'
const long = 'a'.repeat(64)

describe('findServiceProblem', () => {
  const cases: { name: string; meta?: string; spec: string; problem: string | undefined }[] = [
    { name: 'finds none with a cluster IP', spec: 'clusterIP: 192.0.2.1', problem: undefined },
    {
      name: 'finds none with two',
      spec: 'clusterIPs: [192.0.2.1, 2001:db8::1]',
      problem: undefined,
    },
    { name: 'finds none in a headless one', spec: 'clusterIP: None', problem: undefined },
    {
      name: 'finds none in ports without names or with long ones',
      spec: `clusterIP: None, ports: [{ port: 1 }, { name: ${long.slice(1)}, port: 2 }]`,
      problem: undefined,
    },
    {
      name: 'finds none in a CNAME',
      spec: 'type: ExternalName, externalName: www.example.org, ports: [{ name: a.b }]',
      problem: undefined,
    },
    {
      name: 'finds a name that is not a label',
      meta: 'name: web.v2',
      spec: 'clusterIP: 192.0.2.1',
      problem: `its name "web.v2" ${LABEL}`,
    },
    {
      name: 'finds a namespace that is not a label',
      meta: `name: web, namespace: ${long}`,
      spec: 'clusterIP: 192.0.2.1',
      problem: `its namespace "${long}" ${LABEL}`,
    },
    {
      name: 'finds a missing cluster IP',
      spec: 'type: NodePort',
      problem: 'it has no cluster IP',
    },
    {
      name: 'finds an invalid cluster IP',
      spec: 'clusterIPs: [192.0.2.1, 192.0.2.256]',
      problem: 'cluster IP "192.0.2.256" is no address',
    },
    {
      name: 'finds a port whose name is not a label',
      spec: 'clusterIP: None, ports: [{ name: http }, { name: "http/2" }]',
      problem: `the name of a port "http/2" ${LABEL}`,
    },
    {
      name: 'finds a CNAME of an IPv4 address',
      spec: 'type: ExternalName, externalName: 192.0.2.1',
      problem: 'externalName "192.0.2.1" is an address, which a CNAME cannot point to',
    },
    {
      name: 'finds a CNAME of an IPv6 address',
      spec: 'type: ExternalName, externalName: "2001:db8::1"',
      problem: 'externalName "2001:db8::1" is an address, which a CNAME cannot point to',
    },
    {
      name: 'finds a CNAME of what is not a name',
      spec: 'type: ExternalName, externalName: www..example.org',
      problem: 'externalName "www..example.org" is not a domain name',
    },
    {
      name: 'finds a CNAME of nothing',
      spec: 'type: ExternalName',
      problem: 'externalName "" is not a domain name',
    },
  ]
  for (const { name, meta = 'name: web', spec, problem } of cases) {
    test(name, () => {
      const [object] = objectsOf(`- { kind: Service, metadata: { ${meta} }, spec: { ${spec} } }`)
      assert.ok(object?.kind === 'Service')
      assert.equal(findServiceProblem(object), problem)
    })
  }
})

describe('findSliceProblem', () => {
  const host = `${'a.'.repeat(30)}example.org`
  const cases: { name: string; slice: string; plain?: string; byPod?: string }[] = [
    {
      name: 'finds none in addresses, names and labels',
      slice: `endpoints: [
        { addresses: [192.0.2.1, 2001:db8::1] },
        { addresses: [db.example.org], hostname: db-0 }],
        ports: [{ name: http }, { port: 80 }]`,
    },
    { name: 'finds none in nothing', slice: 'endpoints: null, ports: null' },
    {
      name: 'finds a hostname that is not a label',
      slice: 'endpoints: [{ addresses: [192.0.2.1], hostname: db.0 }]',
      plain: `hostname "db.0" ${LABEL}`,
      byPod: `hostname "db.0" ${LABEL}`,
    },
    {
      name: 'finds what is neither an address nor a name',
      slice: 'endpoints: [{ addresses: [192.0.2.1] }, { addresses: [192.0.2.2, a..b] }]',
      plain: '"a..b" is neither an address nor a name',
      byPod: '"a..b" is neither an address nor a name',
    },
    {
      name: 'finds an empty address',
      slice: 'endpoints: [{ addresses: [""] }]',
      plain: '"" is neither an address nor a name',
      byPod: '"" is neither an address nor a name',
    },
    {
      name: 'finds a host that is too long to name an endpoint after it',
      slice: `endpoints: [{ addresses: [${host}], targetRef: { name: pod-0 } }]`,
      plain: `an endpoint called after "${host}" ${LABEL}`,
    },
    {
      name: 'does not mind a long host that has a name of its own',
      slice: `endpoints: [{ addresses: [${host}], hostname: db-0 }]`,
    },
    {
      name: 'does not mind endpoints that are not ready',
      slice: 'endpoints: [{ addresses: [a..b], hostname: a.b, conditions: { ready: false } }]',
    },
    {
      name: 'finds an endpoint that is ready after one that is not',
      slice: 'endpoints: [{ conditions: { ready: false } }, { addresses: [a..b] }]',
      plain: '"a..b" is neither an address nor a name',
      byPod: '"a..b" is neither an address nor a name',
    },
    {
      name: 'finds a port whose name is not a label',
      slice: 'endpoints: [], ports: [{ name: a b }]',
      plain: `the name of a port "a b" ${LABEL}`,
      byPod: `the name of a port "a b" ${LABEL}`,
    },
  ]
  for (const { name, slice, plain, byPod } of cases) {
    test(name, () => {
      const [object] = objectsOf(`- { kind: EndpointSlice, metadata: { name: s }, ${slice} }`)
      assert.ok(object?.kind === 'EndpointSlice')
      assert.equal(findSliceProblem(object, false), plain)
      assert.equal(findSliceProblem(object, true), byPod)
    })
  }
})

/** Labels of so many bytes. */
function labels(size: number): Uint8Array {
  const parts: Uint8Array[] = []
  for (let left = size; left > 0; ) {
    const part = Math.min(64, left === 65 ? 63 : left)
    parts.push(labelOf('a'.repeat(part - 1)) ?? new Uint8Array(0))
    left -= part
  }
  return concatBytes(...parts)
}

const address = Uint8Array.of(192, 0, 2, 1)
const common = { namespace: 'shop', ttlSeconds: 5 }
const MADE: Readonly<Record<string, (size: number) => ZoneEntry>> = {
  'a name': (size) => ({ kind: 'name', owner: labels(size), namespace: 'shop' }),
  'names of addresses': (size) => ({
    kind: 'address-names',
    owner: labels(size),
    namespace: 'shop',
  }),
  'a target of records': (size) => {
    const rdata = [{ bytes: address }, { bytes: address, target: labels(size) }]
    return { kind: 'records', owner: labels(3), ...common, type: 33, rdata }
  },
  'a pointer': (size) => ({ kind: 'pointer', address, ...common, target: labels(size) }),
}

describe('keepFitting', () => {
  // The longest origin takes 17 bytes of 255 with its root.
  const options = optionsOf({ origins: [nameOf('a.test'), nameOf('a.longer.example')] })
  const room = 255 - nameOf('a.longer.example').length
  for (const [name, make] of Object.entries(MADE)) {
    test(`leaves out ${name} that has no room below the longest origin`, () => {
      const [fits, other] = [make(room), make(room + 1)]
      assert.deepEqual(keepFitting([other, fits], options), [fits])
    })
  }

  test('keeps addresses of Pods, and returns the same array if all fits', () => {
    const entries: ZoneEntry[] = [{ kind: 'pod-address', address, namespace: 'shop' }]
    assert.equal(keepFitting(entries, options), entries)
  })
})
