import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { labelOf } from '../../../src/cluster/objects/labels.ts'
import type { EndpointSlice } from '../../../src/cluster/objects/objects.ts'
import {
  endpointBackends,
  nameEndpoints,
  nameSlice,
  sliceBackends,
} from '../../../src/cluster/rules/named-slices.ts'
import { concatBytes, EMPTY } from '../../../src/dns/bytes/bytes.ts'
import { formatAddress } from '../../../src/dns/names/address.ts'
import { formatName, ROOT } from '../../../src/dns/names/name.ts'
import { clusterOf, optionsOf } from '../naming.ts'

const owner = labelOf('db') ?? EMPTY

/** Slices, each given by its fields in YAML's flow form. */
function slicesOf(...bodies: readonly string[]): EndpointSlice[] {
  const objects = bodies.map((body, i) => {
    return `- { kind: EndpointSlice, metadata: { name: s${i} }, ${body} }`
  })
  return [...clusterOf(objects.join('\n')).slices.values()]
}

function sliceOf(body: string): EndpointSlice {
  const [slice] = slicesOf(body)
  assert.ok(slice)
  return slice
}

describe('nameSlice', () => {
  const cases: { name: string; endpoints: string; names: string[]; isWhole?: false }[] = [
    {
      name: 'names ready addresses',
      endpoints: '[{ addresses: [192.0.2.1], hostname: A }, { addresses: ["2001:db8::1"] }]',
      names: ['a.db. 192.0.2.1', '2001-db8--1.db. 2001:db8::1'],
    },
    {
      name: 'passes over what is not ready',
      endpoints:
        '[{ addresses: [192.0.2.1], conditions: { ready: false } }, { addresses: [192.0.2.2] }]',
      names: ['192-0-2-2.db. 192.0.2.2'],
    },
    {
      name: 'warns of a hostname that is not a label',
      endpoints: '[{ addresses: [192.0.2.1], hostname: "a b" }]',
      names: ['192-0-2-1.db. 192.0.2.1'],
      isWhole: false,
    },
    {
      name: 'warns of what is not an address',
      endpoints: '[{ addresses: [db.example.org], hostname: a }]',
      names: ['a.db. -'],
      isWhole: false,
    },
    {
      name: 'warns of what has no name',
      endpoints: `[{ addresses: [${'a.'.repeat(30)}example.org] }]`,
      names: [],
      isWhole: false,
    },
  ]
  const lines = (slice: EndpointSlice, places?: ReadonlySet<number>): string[] =>
    nameSlice(slice, owner, false, places).addresses.map(({ address, target }) => {
      const text = address === undefined ? '-' : formatAddress(address)
      return `${formatName(concatBytes(target, ROOT))} ${text}`
    })
  for (const { name, endpoints, names, isWhole = true } of cases) {
    test(name, () => {
      const slice = sliceOf(`endpoints: ${endpoints}`)
      assert.deepEqual(lines(slice), names)
      assert.equal(nameSlice(slice, owner, false).isWhole, isWhole)
    })
  }

  test('names the addresses at some places, counted over all', () => {
    const slice = sliceOf(
      `endpoints: [{ addresses: [192.0.2.1, 192.0.2.2], conditions: { ready: false } },
                   { addresses: [192.0.2.3, 192.0.2.4] }]`,
    )
    assert.deepEqual(lines(slice, new Set([1, 3])), ['192-0-2-4.db. 192.0.2.4'])
  })
})

test('nameEndpoints names the endpoints of a Service without a name', () => {
  const slices = slicesOf('endpoints: [{ addresses: [db.example.org] }]')
  const named = nameEndpoints(slices, { namespace: 'shop', name: 'a b' }, optionsOf())
  assert.equal(named.owner, undefined)
  assert.deepEqual(
    named.slices.map(({ isWhole }) => isWhole),
    [false],
  )
})

describe('endpointBackends', () => {
  test('lists every address with every port of its own slice, in their order', () => {
    const slices = slicesOf(
      `endpoints: [{ addresses: [192.0.2.1, 192.0.2.2] }],
       ports: [{ name: b, port: 2 }, { name: a, port: 1 }]`,
      'endpoints: [{ addresses: [192.0.2.3] }]',
    )
    const backends = endpointBackends(owner, slices, false)
    assert.deepEqual(
      backends.map(({ host, port }) => `${host} ${port?.name}`),
      ['192.0.2.1 b', '192.0.2.1 a', '192.0.2.2 b', '192.0.2.2 a', '192.0.2.3 undefined'],
    )
  })
})

describe('sliceBackends marks distinct addresses', () => {
  const many = Array.from({ length: 20 }, (_, i) => `192.0.2.${i}`)
  const cases: { name: string; endpoints: readonly string[]; isAlone: boolean }[] = [
    { name: 'one', endpoints: ['{ addresses: [192.0.2.1] }'], isAlone: true },
    { name: 'several', endpoints: many.map((at) => `{ addresses: [${at}] }`), isAlone: true },
    {
      name: 'one address twice',
      endpoints: [
        '{ addresses: [192.0.2.1], hostname: a }',
        '{ addresses: [192.0.2.1], hostname: b }',
      ],
      isAlone: false,
    },
    {
      name: 'one hostname twice',
      endpoints: many.map((at, i) => `{ addresses: [${at}], hostname: h${i % 19} }`),
      isAlone: false,
    },
    { name: 'a hostname', endpoints: ['{ addresses: [db.example.org] }'], isAlone: false },
  ]
  for (const { name, endpoints, isAlone } of cases) {
    test(name, () => {
      const slices = slicesOf(`endpoints: [${endpoints.join(', ')}]`)
      const named = slices.map((slice) => nameSlice(slice, owner, false))
      for (const backend of sliceBackends(named)) assert.equal(backend.isAlone, isAlone)
    })
  }
})
