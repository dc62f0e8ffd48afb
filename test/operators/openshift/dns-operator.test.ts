import assert from 'node:assert/strict'
import { afterEach, describe, it } from 'vitest'
import { problemsElsewhere } from '../../../src/cli/serve/check.ts'
import { ApiError } from '../../../src/cluster/api/object-api.ts'
import { Metrics } from '../../../src/dns/telemetry/metrics.ts'
import { DnsOperator } from '../../../src/operators/openshift/dns-operator.ts'
import { AUTHORITY } from '../../certificates.ts'
import { FakeClock } from '../../cluster/follow/fake-clock.ts'
import { FakeObjects } from './fake-objects.ts'

const DNS = '/apis/operator.openshift.io/v1/dnses/default'
const COREFILE = '/api/v1/namespaces/openshift-dns/configmaps/dns-default'
const STATUS = `${COREFILE}-status`
const BUNDLE = '/api/v1/namespaces/openshift-config/configmaps/corp'

let ended = new AbortController()
let running: Promise<void> | undefined

type Started = {
  readonly api: FakeObjects
  readonly clock: FakeClock
  readonly operator: DnsOperator
  readonly logged: string[]
}

async function start(api: FakeObjects = new FakeObjects()): Promise<Started> {
  const clock = new FakeClock()
  const logged: string[] = []
  const log = (message: string): void => void logged.push(message)
  const operator = new DnsOperator({
    api,
    check: async (files) => {
      const generated = { text: files.Corefile ?? '', path: 'Corefile', files }
      return (await problemsElsewhere(generated)).problems
    },
    configMap: { namespace: 'openshift-dns', name: 'dns-default' },
    metrics: new Metrics(),
    onInfo: log,
    onWarning: log,
    onError: log,
    ...{ sleep: clock.sleep, now: clock.now, elapsed: clock.elapsed, random: () => 1 },
  })
  ended = new AbortController()
  running = operator.run(ended.signal)
  await clock.advance(1000)
  return { api, clock, operator, logged }
}

function dns(spec: object): Readonly<Record<string, unknown>> {
  return { apiVersion: 'operator.openshift.io/v1', kind: 'DNS', spec }
}

/** A server whose upstream is asked over TLS with the CA of a ConfigMap. */
function secured(name: string): object {
  const tls = { serverName: 'dns.corp.example', caBundle: { name } }
  const transportConfig = { transport: 'TLS', tls }
  const forwardPlugin = { upstreams: ['192.0.2.53'], transportConfig }
  return { servers: [{ name: 'corp', zones: ['corp.example'], forwardPlugin }] }
}

function statesOf({ conditions }: DnsOperator): string[] {
  return conditions.map(({ type, status, reason }) => `${type}=${status} ${reason}`)
}

const FINE = [
  'Available=True AsExpected',
  'Progressing=False AsExpected',
  'Degraded=False AsExpected',
  'Upgradeable=True AsExpected',
]

describe('DnsOperator', () => {
  afterEach(async () => {
    ended.abort()
    await running
  })

  it('writes the Corefile and the conditions, once', async () => {
    const { api, clock, operator, logged } = await start()
    assert.deepEqual(statesOf(operator).slice(0, 3), [
      'Available=False NoCorefile',
      'Progressing=False AsExpected',
      'Degraded=True NoDNS',
    ])
    api.set(
      DNS,
      dns({ cache: { positiveTTL: '60s' }, nodePlacement: { nodeSelector: { a: 'b' } } }),
    )
    await clock.advance(1000)
    assert.match(String(api.data(COREFILE).Corefile), /^ {4}cache 60 \{$/m)
    assert.deepEqual(statesOf(operator), FINE)
    assert.equal(operator.isReady, true)
    assert.match(String(api.data(STATUS).conditions), /"type": "Degraded",\s+"status": "False"/)
    assert.ok(logged.some((line) => line.startsWith('spec.nodePlacement has no effect')))
    const { length } = api.writes
    await clock.advance(60_000)
    assert.equal(api.writes.length, length)
  })

  it('restores a ConfigMap that somebody edits or deletes', async () => {
    const { api, clock } = await start()
    api.set(DNS, dns({}))
    await clock.advance(1000)
    const wanted = api.data(COREFILE).Corefile
    api.set(COREFILE, { data: { Corefile: 'edited' }, metadata: { labels: { mine: 'yes' } } })
    await clock.advance(1000)
    assert.equal(api.data(COREFILE).Corefile, wanted)
    api.delete(COREFILE)
    await clock.advance(1000)
    assert.equal(api.data(COREFILE).Corefile, wanted)
    api.deleteUnseen(COREFILE)
    await clock.advance(1000)
    assert.equal(api.data(COREFILE).Corefile, wanted)
  })

  it('keeps the Corefile when the DNS object becomes invalid', async () => {
    const { api, clock, operator } = await start()
    api.set(DNS, dns({}))
    await clock.advance(1000)
    const wanted = api.data(COREFILE).Corefile
    api.set(DNS, dns({ upstreamResolvers: { upstreams: [{ type: 'Network' }] } }))
    await clock.advance(1000)
    assert.equal(api.data(COREFILE).Corefile, wanted)
    assert.deepEqual(statesOf(operator).slice(0, 3), [
      'Available=True AsExpected',
      'Progressing=False AsExpected',
      'Degraded=True InvalidDNS',
    ])
    assert.equal(operator.isReady, false)
  })

  const forwardPlugin = { upstreams: ['192.0.2.1'] }
  const good = { name: 'good', zones: ['good.example'], forwardPlugin }
  const broken: readonly (readonly [name: string, servers: readonly object[], reason: RegExp])[] = [
    ['a zone', [{ ...good, zones: ['bad..zone'] }, good], /servers\[0\]: "bad\.\.zone" is not/],
    ['a zone twice', [good, good], /servers\[1\]: zone "good\.example\." is served/],
    [
      'an upstream',
      [good, { ...good, zones: ['b.example'], forwardPlugin: { upstreams: ['10.0.0.1:abc'] } }],
      /servers\[1\]: "10\.0\.0\.1:abc" is neither/,
    ],
    ['a field', [good, { zones: 1 }], /servers\[1\]\.zones is 1, expected a list/],
    [
      'several',
      [{ ...good, zones: ['bad..zone'] }, good, good, { ...good, zones: ['c..d'] }],
      /servers\[0\]: .*; spec\.servers\[[23]\]: .*; spec\.servers\[[23]\]: /,
    ],
  ]
  for (const [name, servers, reason] of broken) {
    it(`keeps a Corefile, and writes a first one without the broken part: ${name}`, async () => {
      const { api, clock, operator } = await start()
      api.set(DNS, dns({ servers }))
      await clock.advance(1000)
      const first = String(api.data(COREFILE).Corefile)
      assert.match(first, /^good\.example:5353 \{$/m)
      assert.match(first, /^\.:5353 \{$/m)
      const degraded = operator.conditions.find(({ type }) => type === 'Degraded')
      assert.equal(degraded?.status, 'True')
      assert.match(degraded?.message ?? '', reason)
      api.set(DNS, dns({}))
      await clock.advance(1000)
      const plain = String(api.data(COREFILE).Corefile)
      assert.deepEqual(statesOf(operator), FINE)
      api.set(DNS, dns({ servers }))
      await clock.advance(1000)
      assert.equal(api.data(COREFILE).Corefile, plain)
      assert.ok(statesOf(operator).includes('Degraded=True InvalidDNS'))
    })
  }

  it('waits for CA bundles, and writes them beside the Corefile', async () => {
    const { api, clock, operator } = await start()
    api.set(DNS, dns(secured('corp')))
    await clock.advance(1000)
    assert.deepEqual(api.data(COREFILE), {})
    assert.ok(statesOf(operator).includes('Degraded=True InvalidCABundle'))
    api.set(BUNDLE, { data: { 'ca-bundle.crt': AUTHORITY } })
    await clock.advance(1000)
    assert.match(String(api.data(COREFILE).Corefile), /tls ca-corp\.crt$/m)
    assert.equal(api.data(COREFILE)['ca-corp.crt'], AUTHORITY)
    assert.deepEqual(statesOf(operator), FINE)
  })

  it('writes nothing for managementState Unmanaged', async () => {
    const { api, clock, operator } = await start()
    api.set(COREFILE, { data: { Corefile: 'of its owner' } })
    api.set(DNS, dns({ managementState: 'Unmanaged' }))
    await clock.advance(1000)
    assert.equal(api.data(COREFILE).Corefile, 'of its owner')
    assert.ok(statesOf(operator).includes('Upgradeable=False OperatorUnmanaged'))
    api.set(DNS, dns({ managementState: 'Managed' }))
    await clock.advance(1000)
    assert.match(String(api.data(COREFILE).Corefile), /^\.:5353 \{$/m)
  })

  it('says that it cannot write, once, and tries again', async () => {
    const { api, clock, operator, logged } = await start()
    api.refusal = new ApiError('configmaps is forbidden', 403)
    api.set(DNS, dns({}))
    await clock.advance(10_000)
    assert.deepEqual(statesOf(operator).slice(1, 3), [
      'Progressing=True Reconciling',
      'Degraded=True WriteFailed',
    ])
    assert.equal(logged.filter((line) => line.includes('forbidden')).length, 1)
    api.refusal = undefined
    await clock.advance(60_000)
    assert.deepEqual(statesOf(operator), FINE)
  })

  it('reports an unmanaged object even when it cannot write the conditions', async () => {
    const { api, clock, operator } = await start()
    api.refusal = new ApiError('configmaps is forbidden', 403)
    api.set(DNS, dns({ managementState: 'Unmanaged' }))
    await clock.advance(10_000)
    assert.ok(statesOf(operator).includes('Degraded=True WriteFailed'))
    assert.ok(statesOf(operator).includes('Upgradeable=False OperatorUnmanaged'))
  })

  it('keeps the times of conditions over a restart', async () => {
    const first = await start()
    first.api.set(DNS, dns({}))
    await first.clock.advance(1000)
    const before = first.operator.conditions
    ended.abort()
    await running
    const { api, clock, operator } = await start(first.api)
    const { length } = api.writes
    await clock.advance(60_000)
    assert.deepEqual(operator.conditions, before)
    assert.equal(api.writes.length, length)
  })
})
