import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { ApiError } from '../../../src/cluster/api/object-api.ts'
import { RecordStatusWriter } from '../../../src/cluster/api/record-status.ts'
import type {
  HostObject,
  HostRefusal,
  RecordCondition,
} from '../../../src/cluster/objects/objects.ts'
import { parseObject } from '../../../src/cluster/objects/parse-object.ts'
import type { RecordVerdict } from '../../../src/cluster/trees/record-verdicts.ts'
import { ScriptedApi } from '../follow/scripted-api.ts'

const NOW_MS = Date.UTC(2026, 0, 2)
const REFUSAL: HostRefusal = { reason: 'Conflict', message: 'x.a.test belongs to Ingress shop/web' }

function pathOf(name: string, namespace = 'shop'): string {
  return `PUT /apis/kubedoh.dev/v1alpha1/namespaces/${namespace}/dnsrecords/${name}/status`
}

function verdict(
  name: string,
  refusal?: HostRefusal,
  conditions: readonly RecordCondition[] = [],
): RecordVerdict {
  const object = parseObject({
    kind: 'DNSRecord',
    metadata: { name, namespace: 'shop', generation: 2, resourceVersion: '9' },
    status: { conditions },
  })
  return { object: object as HostObject, refusal }
}

function condition(
  type: string,
  status: string,
  some: Partial<RecordCondition> = {},
): RecordCondition {
  const lastTransitionTime = '2026-01-02T00:00:00Z'
  return {
    ...{ type, status, reason: type, message: '', lastTransitionTime, observedGeneration: 2 },
    ...some,
  }
}

/** A writer to an API server that takes everything, what it took, and what the writer logs. */
class Writing {
  readonly api: ScriptedApi = new ScriptedApi()
  readonly bodies: unknown[] = []
  readonly errors: string[] = []
  readonly ended: AbortController = new AbortController()
  readonly writer: RecordStatusWriter = new RecordStatusWriter({
    api: this.api,
    now: () => NOW_MS,
    onError: (message) => this.errors.push(message),
    signal: this.ended.signal,
  })

  constructor(...names: readonly string[]) {
    for (const name of names) this.answer(name, {})
  }

  answer(name: string, reply: unknown): void {
    this.api.replies.set(pathOf(name), (body: unknown) => {
      this.bodies.push(body)
      return reply
    })
  }

  async write(...verdicts: readonly RecordVerdict[]): Promise<void> {
    this.writer.take(verdicts)
    await this.writer.settled()
  }
}

describe('the writer of statuses', () => {
  test('writes the conditions of accepted and of refused records', async () => {
    const writing = new Writing('a', 'b')
    await writing.write(verdict('a'), verdict('b', REFUSAL))
    const { message } = REFUSAL
    const metadata = { namespace: 'shop', resourceVersion: '9' }
    const head = { apiVersion: 'kubedoh.dev/v1alpha1', kind: 'DNSRecord' }
    assert.deepEqual(writing.bodies, [
      {
        ...head,
        metadata: { ...metadata, name: 'a' },
        status: { conditions: [condition('Accepted', 'True'), condition('Programmed', 'True')] },
      },
      {
        ...head,
        metadata: { ...metadata, name: 'b' },
        status: {
          conditions: [
            condition('Accepted', 'False', { reason: 'Conflict', message }),
            condition('Programmed', 'False', { reason: 'NotAccepted', message }),
          ],
        },
      },
    ])
    assert.deepEqual(writing.errors, [])
  })

  test('writes only what differs, and keeps the time of a status that stays', async () => {
    const writing = new Writing('a')
    const long = { lastTransitionTime: '2025-01-01T00:00:00Z' }
    const present = [condition('Accepted', 'True', long), condition('Programmed', 'True', long)]
    await writing.write(verdict('a', undefined, present))
    assert.deepEqual(writing.bodies, [])
    const older = present.map((one) => ({ ...one, observedGeneration: 1 }))
    const changed = verdict('a', undefined, older)
    await writing.write(changed)
    // The watch has not brought the new version yet.
    await writing.write(changed)
    assert.deepEqual(
      writing.bodies.map((body) => (body as { status: unknown }).status),
      [{ conditions: present }],
    )
  })

  test('lets namespaces take turns, also while one of them changes without end', async () => {
    const writing = new Writing()
    const written: string[] = []
    const inNamespace = (namespace: string, name: string): RecordVerdict => {
      const { object } = verdict(name)
      return { object: { ...object, namespace }, refusal: undefined }
    }
    const all = (): RecordVerdict[] => [
      ...['a1', 'a2', 'a3'].map((name) => inNamespace('busy', name)),
      quiet1,
      quiet2,
    ]
    const [quiet1, quiet2] = [inNamespace('calm', 'b1'), inNamespace('calm', 'b2')]
    for (const { object } of all()) {
      const { namespace, name } = object
      writing.api.replies.set(pathOf(name, namespace), () => {
        written.push(name)
        // Its objects are other ones at each publication, which come while a status is written.
        if (written.length < 6) writing.writer.take(all())
        return {}
      })
    }
    await writing.write(...all())
    assert.deepEqual(written.slice(0, 4), ['a1', 'b1', 'a1', 'b2'])
  })

  test('leaves the conditions of others in place, and knows the path of a HostRoute', async () => {
    const writing = new Writing()
    const path = '/apis/kubedoh.dev/v1alpha1/namespaces/shop/hostroutes/r/status'
    writing.api.replies.set(`PUT ${path}`, (body: unknown) => writing.bodies.push(body))
    const routed = condition('Routed', 'True')
    const object = parseObject({
      kind: 'HostRoute',
      metadata: { name: 'r', namespace: 'shop', generation: 2, resourceVersion: '9' },
      status: { conditions: [routed, condition('Accepted', 'False')] },
    })
    await writing.write({ object: object as HostObject, refusal: undefined })
    assert.deepEqual(writing.bodies, [
      {
        apiVersion: 'kubedoh.dev/v1alpha1',
        kind: 'HostRoute',
        metadata: { namespace: 'shop', name: 'r', resourceVersion: '9' },
        status: {
          conditions: [routed, condition('Accepted', 'True'), condition('Programmed', 'True')],
        },
      },
    ])
  })

  test('writes nothing if only the order of conditions of two writers differs', async () => {
    const writing = new Writing('a')
    const [routed, ...own] = ['Routed', 'Accepted', 'Programmed'].map((type) =>
      condition(type, 'True'),
    )
    assert.ok(routed)
    await writing.write(verdict('a', undefined, [...own, routed]))
    await writing.write(verdict('a', undefined, [routed, ...own]))
    assert.deepEqual(writing.bodies, [])
  })

  test('logs a missing right once, and writes when it has it', async () => {
    const writing = new Writing('b')
    writing.answer('a', new ApiError('forbidden', 403))
    for (const _ of [1, 2]) await writing.write(verdict('a'), verdict('b'))
    assert.deepEqual(writing.api.calls, [pathOf('a'), pathOf('a')])
    assert.deepEqual(writing.errors, [
      'cannot write the status of DNSRecords: forbidden; add to the ClusterRole: ' +
        '{"apiGroups":["kubedoh.dev"],"resources":["dnsrecords/status"],"verbs":["update"]}; ' +
        'their names and routes are in service all the same',
    ])
    writing.answer('a', {})
    await writing.write(verdict('a'), verdict('b'))
    assert.deepEqual(writing.api.calls.slice(2), [pathOf('a'), pathOf('b')])
  })

  const others = [
    { status: 404, errors: 0 },
    { status: 409, errors: 0 },
    { status: 422, errors: 1 },
  ]
  for (const { status, errors } of others) {
    test(`goes on with other records after ${status}`, async () => {
      const writing = new Writing('b')
      writing.answer('a', new ApiError('no', status))
      await writing.write(verdict('a'), verdict('b'))
      assert.deepEqual(writing.api.calls, [pathOf('a'), pathOf('b')])
      assert.equal(writing.errors.length, errors)
    })
  }

  test('ignores records from files, and stops at the end', async () => {
    const writing = new Writing('a')
    const file = parseObject({ kind: 'DNSRecord', metadata: { name: 'a', namespace: 'shop' } })
    await writing.write({ object: file as HostObject, refusal: undefined })
    writing.ended.abort()
    await writing.write(verdict('a'))
    assert.deepEqual(writing.api.calls, [])
  })
})
