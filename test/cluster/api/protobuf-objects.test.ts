import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { ApiError } from '../../../src/cluster/api/object-api.ts'
import { readEventMessage, readObject } from '../../../src/cluster/api/protobuf-objects.ts'
import { parseObject } from '../../../src/cluster/objects/parse-object.ts'
import {
  protobufMessage as message,
  type ProtobufField,
  protobufEvent,
  protobufObject,
} from '../follow/protobuf.ts'

const TIME = message([1, 1_790_000_000], [2, 0])
const META = message(
  [1, 'web'],
  [2, ''],
  [3, 'shop'],
  [5, '6f1d'],
  [6, '12'],
  [7, 3],
  [8, TIME],
  [11, message([1, 'app'], [2, 'web'])],
  [11, message([1, 'tier'])],
  [12, message([1, 'a.test/ü'], [2, '…'])],
  [17, message([1, 'kubectl'], [2, 'Update'])],
)
const METADATA = {
  name: 'web',
  namespace: 'shop',
  uid: '6f1d',
  resourceVersion: '12',
  creationTimestamp: '2026-09-21T14:13:20.000Z',
  labels: { app: 'web', tier: '' },
  annotations: { 'a.test/ü': '…' },
}
const SERVICE = protobufObject(
  'v1 Service',
  [1, META],
  [
    2,
    message(
      [1, message([1, 'http'], [2, 'TCP'], [3, 80], [4, message([1, 0])], [5, 0], [6, 'https'])],
      [1, message([2, 'UDP'], [3, 53], [5, 30053])],
      [3, '10.0.0.1'],
      [4, 'LoadBalancer'],
      [5, '192.0.2.1'],
      [10, ''],
      [13, 0],
      [18, '10.0.0.1'],
      [18, 'fd00::1'],
    ),
  ],
  [3, message([1, message([1, message([1, ''], [2, 'lb.a.test'], [3, 'VIP'])])])],
)

describe('readEventMessage', () => {
  const cases: { name: string; object: Buffer; expected: unknown }[] = [
    {
      name: 'a Service, without what is empty',
      object: SERVICE,
      expected: {
        metadata: METADATA,
        spec: {
          ports: [
            { name: 'http', protocol: 'TCP', port: 80, appProtocol: 'https' },
            { protocol: 'UDP', port: 53, nodePort: 30053 },
          ],
          clusterIP: '10.0.0.1',
          type: 'LoadBalancer',
          externalIPs: ['192.0.2.1'],
          clusterIPs: ['10.0.0.1', 'fd00::1'],
        },
        status: { loadBalancer: { ingress: [{ hostname: 'lb.a.test', ipMode: 'VIP' }] } },
      },
    },
    {
      name: 'a Namespace without labels',
      object: protobufObject('v1 Namespace', [1, message([1, 'shop'], [8, Buffer.alloc(0)])]),
      expected: { metadata: { name: 'shop' } },
    },
    {
      name: 'a Pod that is deleted',
      object: protobufObject(
        'v1 Pod',
        [1, message([1, 'web-0'], [3, 'shop'], [9, TIME])],
        [2, message([1, 'much'])],
        [3, message([1, 'Running'], [6, '10.1.0.1'])],
      ),
      expected: {
        metadata: {
          name: 'web-0',
          namespace: 'shop',
          deletionTimestamp: METADATA.creationTimestamp,
        },
        status: { phase: 'Running', podIP: '10.1.0.1' },
      },
    },
    {
      name: 'an error',
      object: protobufObject('v1 Status', [2, 'Failure'], [3, 'too old'], [4, 'Expired'], [6, 410]),
      expected: { message: 'too old', code: 410 },
    },
    {
      name: 'an object without fields',
      object: protobufObject('v1 Service'),
      expected: {},
    },
  ]
  for (const seconds of [8.64e12 + 1, 2 ** 62]) {
    cases.push({
      name: `times ${seconds} s after 1970, which no date has, as present and unknown`,
      object: protobufObject('v1 Pod', [
        1,
        message([1, 'web'], [8, message([1, seconds])], [9, message([1, seconds])]),
      ]),
      expected: { metadata: { name: 'web', creationTimestamp: '', deletionTimestamp: '' } },
    })
  }
  for (const { name, object, expected } of cases) {
    test(`reads ${name}`, () => {
      const event = readEventMessage(protobufEvent('ADDED', object))
      assert.deepEqual(event, { type: 'ADDED', object: expected })
    })
  }

  test('reads an EndpointSlice as JSON has it', () => {
    const endpoint = (...fields: readonly ProtobufField[]): ProtobufField => {
      return [2, message(...fields)]
    }
    const object = protobufObject(
      'discovery.k8s.io/v1 EndpointSlice',
      [1, META],
      endpoint(
        [1, '10.1.0.1'],
        [2, message([1, 0], [2, 1])],
        [4, message([1, 'Pod'], [3, 'web-0'])],
      ),
      endpoint([1, '10.1.0.2'], [1, '10.1.0.3'], [2, message([1, 1])], [3, 'two'], [6, 'node']),
      endpoint([1, '10.1.0.4'], [2, message()], [7, 'EU-1A'], [8, message([1, message()])]),
      endpoint(),
      [3, message([1, ''], [2, 'TCP'], [3, 8080])],
      [4, 'IPv4'],
    )
    const { object: value } = readEventMessage(protobufEvent('ADDED', object))
    const json = {
      metadata: METADATA,
      endpoints: [
        {
          addresses: ['10.1.0.1'],
          conditions: { ready: false },
          targetRef: { name: 'web-0' },
        },
        { addresses: ['10.1.0.2', '10.1.0.3'], conditions: { ready: true }, hostname: 'two' },
        { addresses: ['10.1.0.4'], conditions: {}, zone: 'EU-1A' },
        { addresses: [] },
      ],
      ports: [{ protocol: 'TCP', port: 8080 }],
    }
    assert.deepEqual(parseObject(value, 'EndpointSlice'), parseObject(json, 'EndpointSlice'))
  })

  const invalid: { name: string; event: Buffer; problem: string }[] = [
    { name: 'nothing', event: Buffer.alloc(0), problem: 'no object' },
    { name: 'an event without an object', event: message([1, 'ADDED']), problem: 'no object' },
    {
      name: 'an object without an envelope',
      event: protobufEvent('ADDED', message([1, META])),
      problem: 'it does not begin with k8s',
    },
    {
      name: 'another kind',
      event: protobufEvent('ADDED', protobufObject('v1 Secret', [1, META])),
      problem: 'it has a v1 Secret that was not asked for',
    },
    {
      name: 'a field over the end',
      event: protobufEvent('ADDED', SERVICE).subarray(0, -1),
      problem: 'a field is longer than its message',
    },
    {
      name: 'a type that does not exist',
      event: Buffer.from([79]),
      problem: 'Unimplemented type: 7',
    },
  ]
  for (const { name, event, problem } of invalid) {
    test(`refuses ${name}`, () => {
      const error = new ApiError(`a message of the API server is invalid: ${problem}`)
      assert.throws(() => readEventMessage(event), error)
    })
  }

  test('throws nothing but ApiError, whatever the bytes are', () => {
    const whole = [...protobufEvent('ADDED', SERVICE)]
    const changed = fc
      .array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { minLength: 1, maxLength: 8 })
      .map((changes) => {
        const bytes = Buffer.from(whole)
        for (const [at, value] of changes) bytes[at] = value
        return bytes
      })
    const any = fc.uint8Array({ maxLength: 80 }).map((bytes) => Buffer.from(bytes))
    fc.assert(
      fc.property(fc.oneof(changed, any), (bytes) => {
        try {
          parseObject(readEventMessage(bytes).object, 'Service')
        } catch (error) {
          assert.ok(error instanceof ApiError, String(error))
        }
      }),
      { numRuns: 5000 },
    )
  })
})

describe('readObject', () => {
  test('reads a page of a list', () => {
    const body = protobufObject(
      'v1 ServiceList',
      [1, message([1, ''], [2, '77'], [3, 'next'])],
      [2, message([1, META])],
      [2, message([1, message([1, 'api'])])],
    )
    assert.deepEqual(readObject(body), {
      metadata: { resourceVersion: '77', continue: 'next' },
      items: [{ metadata: METADATA }, { metadata: { name: 'api' } }],
    })
  })

  test('refuses what is no object', () => {
    assert.throws(() => readObject(Buffer.from('<html>')), ApiError)
  })
})
