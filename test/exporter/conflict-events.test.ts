import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'vitest'
import { ApiError } from '../../src/cluster/api/object-api.ts'
import { namingOptions } from '../../src/cluster/follow/naming.ts'
import type { HostConflict } from '../../src/cluster/trees/host-conflicts.ts'
import { HostGroups } from '../../src/cluster/trees/host-groups.ts'
import { defaultKubernetes } from '../../src/corefile/kubernetes-options.ts'
import { ConflictEvents } from '../../src/exporter/conflict-events.ts'
import { parseK8sGateway } from '../../src/resolver/plugins/k8s-gateway/options.ts'
import { directive, parseDirective } from '../ask.ts'
import { FakeClock } from '../cluster/follow/fake-clock.ts'
import { ScriptedApi } from '../cluster/follow/scripted-api.ts'
import { objectsOf } from '../cluster/naming.ts'

const CONF = directive('k8s_gateway a.test', 'resources Ingress Service Node', 'annotations')

/** The conflicts of objects that claim hosts: `KIND NAMESPACE HOST…`, the first one wins. */
function conflictsOf(...claims: readonly string[]): readonly HostConflict[] {
  const read = parseDirective(CONF)
  const { tree: parsed, zones } = parseK8sGateway(read, [])
  const { tree } = namingOptions(defaultKubernetes(read, zones), [], parsed)
  assert.ok(tree.kind === 'hosts')
  const groups = new HostGroups(tree)
  const objects = claims.map((text, i) => {
    const [kind = '', namespace = '', ...hosts] = text.split(' ')
    return `
- kind: ${kind}
  metadata:
    name: it
    namespace: ${namespace}
    uid: uid-${namespace}
    creationTimestamp: '2026-01-01T00:00:0${i}Z'
    annotations: { external-dns.alpha.kubernetes.io/hostname: '${hosts.join(',')}' }
  spec: { type: LoadBalancer }
  status:
    loadBalancer: { ingress: [{ ip: 203.0.113.1 }] }
    addresses:
      - { type: Hostname, address: ${hosts[0]} }
      - { type: InternalIP, address: 203.0.113.2 }`
  })
  for (const object of objectsOf(objects.join(''))) groups.set(object)
  for (const name of groups.takeChanged()) groups.entriesOf(name)
  return groups.conflicts
}

type Body = Readonly<Record<string, unknown>>

type Started = {
  readonly clock: FakeClock
  readonly api: ScriptedApi
  readonly events: ConflictEvents
  readonly bodies: Body[]
  readonly errors: string[]
}

/** Starts the Events of an API server that answers these one after the other, then accepts. */
function start(t: TestContext, answers: readonly ApiError[] = [], isLeader = () => true): Started {
  const [clock, api, ended] = [new FakeClock(), new ScriptedApi(), new AbortController()]
  const [bodies, errors]: [Body[], string[]] = [[], []]
  const left = [...answers]
  const reply = (body: Body): unknown => {
    const error = left.shift()
    if (error === undefined) bodies.push(body)
    return error ?? body
  }
  for (const namespace of ['a', 'b', 'c', 'd', 'e', 'f', 'default']) {
    api.replies.set(`POST /api/v1/namespaces/${namespace}/events`, reply)
  }
  const onError = (message: string): void => void errors.push(message)
  const events = new ConflictEvents({ ...clock, api, isLeader, onError, now: clock.now })
  const running = events.run(ended.signal)
  t.onTestFinished(async () => {
    ended.abort()
    await running
  })
  return { clock, api, events, bodies, errors }
}

describe('Events about a hostname', () => {
  const messages: { claims: readonly string[]; lines: readonly string[] }[] = [
    { claims: ['Ingress a x.a.test'], lines: [] },
    {
      claims: ['Ingress a x.a.test', 'Ingress b x.a.test'],
      lines: [
        'a: DNS answers x.a.test from this object; Ingress b/it also claims it',
        'b: DNS answers x.a.test from Ingress a/it, not from this object',
      ],
    },
    {
      claims: ['Service a x.a.test', 'Ingress b x.a.test', 'Ingress c x.a.test'],
      lines: [
        'a: DNS answers x.a.test from Ingress b/it, not from this object',
        'b: DNS answers x.a.test from this object; Ingress c/it, Service a/it also claims it',
        'c: DNS answers x.a.test from Ingress b/it, not from this object',
      ],
    },
    {
      claims: ['Ingress a x.a.test', 'Node default x.a.test'],
      lines: [
        'a: DNS answers x.a.test from this object; Node it also claims it',
        'default: DNS answers x.a.test from Ingress a/it, not from this object',
      ],
    },
  ]
  for (const { claims, lines } of messages) {
    test(`of ${claims.join(', ')}`, async (t) => {
      const { clock, events, bodies } = start(t)
      events.update(conflictsOf(...claims))
      await clock.advance(10_000)
      const shown = bodies.map(({ metadata, message }) => {
        return `${(metadata as { namespace: string }).namespace}: ${message}`
      })
      assert.deepEqual(shown, lines)
    })
  }

  test('are in the form of core v1, which refers to the object by its UID', async (t) => {
    const { clock, events, bodies } = start(t)
    events.update(conflictsOf('Ingress a x.a.test', 'Ingress b x.a.test'))
    await clock.advance(1000)
    const { metadata, message, ...rest } = bodies[0] ?? {}
    assert.match(JSON.stringify(metadata), /^{"name":"kubedoh\.[0-9a-f]{16}","namespace":"a"}$/)
    const time = '2026-01-01T00:00:01.000Z'
    assert.deepEqual(rest, {
      apiVersion: 'v1',
      kind: 'Event',
      involvedObject: {
        apiVersion: 'networking.k8s.io/v1',
        kind: 'Ingress',
        name: 'it',
        namespace: 'a',
        uid: 'uid-a',
      },
      type: 'Warning',
      reason: 'HostnameConflict',
      source: { component: 'kubedoh' },
      firstTimestamp: time,
      lastTimestamp: time,
      count: 1,
    })
    assert.match(String(message), /from this object/)
  })

  test('are created once while a conflict lasts, and again with the same name', async (t) => {
    const { clock, events, bodies } = start(t)
    const conflicts = conflictsOf('Ingress a x.a.test', 'Ingress b x.a.test')
    for (let i = 0; i < 5; i++) {
      events.update(conflicts)
      await clock.advance(5000)
    }
    assert.equal(bodies.length, 2)
    events.update([])
    events.update(conflicts)
    await clock.advance(5000)
    assert.deepEqual(bodies.slice(2).map(nameIn), bodies.slice(0, 2).map(nameIn))
  })

  const hostsOf = (name: string, count: number): string =>
    Array.from({ length: count }, (_, i) => `${name}${i}.a.test`).join(' ')

  test('are at most one a second, and none of conflicts that ended', async (t) => {
    const { clock, events, bodies } = start(t)
    const hosts = hostsOf('h', 40)
    const conflicts = conflictsOf(`Ingress a ${hosts}`, `Ingress b ${hosts}`)
    assert.equal(conflicts.length, 40)
    events.update(conflicts)
    await clock.advance(20_000)
    assert.equal(bodies.length, 20)
    await clock.advance(900_000)
    assert.equal(bodies.length, 80)
    events.update(conflicts.slice(30))
    events.update(conflicts)
    await clock.advance(10_000)
    events.update([])
    await clock.advance(100_000)
    assert.equal(bodies.length, 90)
  })

  test('are of at most 50 conflicts of the namespace that came last, and of a share of 200', async (t) => {
    const { clock, events, bodies } = start(t)
    const [many, few] = [hostsOf('m', 300), hostsOf('f', 5)]
    const claims = ['Ingress a', 'Ingress b', 'Ingress c', 'Ingress d', 'Ingress e', 'Ingress f']
    const conflicts = conflictsOf(
      ...claims.map((claim) => (claim === 'Ingress f' ? `${claim} ${few}` : `${claim} ${many}`)),
      `Service a ${few}`,
    )
    // Those of "many" have five claims, and "e" came last; those of "few" are of "a".
    events.update(conflicts.toReversed())
    await clock.advance(2_000_000)
    const about = bodies.map(({ message }) => String(message).split(' ')[2] ?? '')
    assert.deepEqual(
      ['m', 'f'].map((start) => new Set(about.filter((host) => host.startsWith(start))).size),
      [50, 5],
    )
  })

  test('let namespaces take turns', async (t) => {
    const { clock, events, bodies } = start(t)
    const hosts = hostsOf('h', 40)
    const conflicts = conflictsOf(`Ingress a ${hosts}`, `Ingress b ${hosts}`)
    const [late] = conflictsOf('Ingress b x.a.test', 'Ingress c x.a.test')
    assert.ok(late !== undefined)
    events.update([...conflicts, late])
    await clock.advance(3000)
    const namespaces = bodies.map(({ metadata }) => (metadata as { namespace: string }).namespace)
    assert.deepEqual(namespaces, ['a', 'b', 'c'])
  })

  test('of a namespace that takes none do not hold up those of others', async (t) => {
    const { clock, events, bodies, errors } = start(t, [new ApiError('quota', 403)])
    events.update(conflictsOf('Ingress a x.a.test', 'Ingress b x.a.test'))
    await clock.advance(5000)
    assert.equal(bodies.length, 1)
    assert.equal(errors.length, 1)
    await clock.advance(600_000)
    assert.equal(bodies.length, 2)
  })

  test('are created by the leader only', async (t) => {
    let isLeader = false
    const { clock, events, bodies } = start(t, [], () => isLeader)
    events.update(conflictsOf('Ingress a x.a.test', 'Ingress b x.a.test'))
    await clock.advance(60_000)
    assert.equal(bodies.length, 0)
    isLeader = true
    await clock.advance(5000)
    assert.equal(bodies.length, 2)
  })

  const failures: {
    name: string
    errors: ApiError[]
    afterMs: number
    created: number
    lines: RegExp[]
  }[] = [
    {
      name: 'that the role may not create: one line, and the next attempt in 10 minutes',
      errors: Array.from({ length: 4 }, () => new ApiError('forbidden', 403)),
      afterMs: 1_190_000,
      created: 0,
      lines: [/^cannot create an Event about a hostname: forbidden; .*"resources":\["events"\]/],
    },
    {
      name: 'whose right was granted in the meantime',
      errors: Array.from({ length: 2 }, () => new ApiError('forbidden', 403)),
      afterMs: 610_000,
      created: 2,
      lines: [/forbidden/],
    },
    {
      name: 'that exist',
      errors: [new ApiError('exists', 409)],
      afterMs: 5000,
      created: 1,
      lines: [],
    },
    {
      name: 'of a namespace that is gone',
      errors: [new ApiError('not found', 404)],
      afterMs: 5000,
      created: 1,
      lines: [/: not found$/],
    },
    {
      name: 'that a server cannot store now',
      errors: [new ApiError('unreachable'), new ApiError('busy', 429, { retryAfterMs: 60_000 })],
      afterMs: 100_000,
      created: 2,
      lines: [/: unreachable$/],
    },
  ]
  for (const { name, errors: answers, afterMs, created, lines } of failures) {
    test(name, async (t) => {
      const { clock, events, bodies, errors } = start(t, answers)
      events.update(conflictsOf('Ingress a x.a.test', 'Ingress b x.a.test'))
      await clock.advance(afterMs)
      assert.equal(bodies.length, created)
      assert.equal(errors.length, lines.length, errors.join('\n'))
      for (const [i, line] of lines.entries()) assert.match(errors[i] ?? '', line)
    })
  }
})

function nameIn({ metadata }: Body): string {
  return (metadata as { name: string }).name
}
