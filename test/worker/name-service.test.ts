/** The gateway as another Worker has it bound. */
import assert from 'node:assert/strict'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { isRecord } from '../../src/dns/bytes/unknown.ts'
import { createGatewayClient } from '../../src/exporter/gateway-client.ts'
import { sha256Hex } from '../../src/snapshot/format/signature.ts'
import { keys } from '../cluster/follow/memory-gateway.ts'
import { snapshotOf, WEB } from '../gateway/publishing.ts'
import { type Platform, startPlatform } from './platform.ts'

const URL_HERE = 'http://gateway.test'
const EXPORTER_TOKEN = 'the-token-of-the-exporter'
const COREFILE = '. {\n  kubernetes cluster.local {\n    cluster shop\n  }\n  whoami\n}\n'
const HIDDEN = WEB.replace('web.shop', 'ledger.bank').replace('0.80', '0.81')
/** Gateways with their variables, by the bindings of the Worker that queries them. */
const GATEWAYS = {
  NAMES: { SERVICE_SCOPE: 'shop, dev-*' },
  LABELS: { SERVICE_SCOPE: 'team=b' },
  CLOSED: { SERVICE_SCOPE: '' },
  BROKEN: { SERVICE_SCOPE: 'Shop' },
}
const { privateKey, publicKeyText: publicKey } = await keys()

describe('a Worker with a service binding', () => {
  let platform: Platform | undefined
  beforeAll(async () => {
    const tokenSha256 = await sha256Hex(new TextEncoder().encode(EXPORTER_TOKEN))
    const bind = (binding: string, service: string) => ({
      binding,
      service,
      entrypoint: 'NameService',
    })
    const bound = Object.keys(GATEWAYS).map((name) => bind(name, name.toLowerCase()))
    const gateways = Object.entries(GATEWAYS).map(
      ([name, vars]) => [name.toLowerCase(), { vars }] as const,
    )
    const workers = { ...Object.fromEntries(gateways), caller: { services: bound } }
    const CLUSTERS = JSON.stringify({ shop: { publicKey, tokenSha256 } })
    platform = await startPlatform(workers, { COREFILE, CLUSTERS })
    for (const gateway of ['names', 'labels']) await publish(platform.worker(gateway).fetch)
  })
  afterAll(() => platform?.stop())

  async function publish(fetch: typeof globalThis.fetch): Promise<void> {
    const client = createGatewayClient({
      url: URL_HERE,
      cluster: 'shop',
      token: EXPORTER_TOKEN,
      fetch,
    })
    const time = new Date().toISOString()
    const labels = { shop: ['team=a'], bank: ['team=b'] }
    const { shards, signed } = await snapshotOf(privateKey, [WEB, HIDDEN], { time, labels })
    for (const [sha256, bytes] of shards) await client.putShard(sha256, bytes)
    await client.putManifest(signed.bytes, signed.signature, undefined)
  }

  async function resolve(values: readonly unknown[], binding = 'NAMES'): Promise<unknown> {
    const caller = platform?.worker('caller') ?? assert.fail('the platform did not start')
    const request = { method: 'POST', body: JSON.stringify(values) }
    return (await caller.fetch(`${URL_HERE}/test/resolve/${binding}`, request)).json()
  }

  test('gets the names of its scope, as the JSON API answers', async () => {
    const name = 'web.shop.svc.cluster.local.'
    const [, ttl = '', , , data] = WEB.split(' ')
    assert.deepEqual(await resolve([name]), {
      Status: 0,
      TC: false,
      RD: true,
      RA: false,
      AD: false,
      CD: false,
      Question: [{ name, type: 1 }],
      Answer: [{ name, type: 1, TTL: Number(ttl), data }],
    })
    const statuses = await Promise.all(
      [
        [name, 'AAAA'],
        [name, 28],
        ['none.shop.svc.cluster.local', 'A'],
      ].map(async (values) => Object(await resolve(values)).Status),
    )
    assert.deepEqual(statuses, [0, 0, 3])
  })

  test('does not see that other namespaces exist', async () => {
    const of = async (name: string): Promise<unknown> => {
      const reply = await resolve([name])
      return isRecord(reply) ? { ...reply, Question: [] } : reply
    }
    const hidden = await of('ledger.bank.svc.cluster.local')
    assert.deepEqual(hidden, await of('ledger.none.svc.cluster.local'))
    assert.equal(Object(hidden).Status, 3)
  })

  test('gets the namespaces with a label of its scope', async () => {
    const statuses = ['web.shop', 'ledger.bank'].map(async (name) => {
      return Object(await resolve([`${name}.svc.cluster.local`], 'LABELS')).Status
    })
    assert.deepEqual(await Promise.all(statuses), [3, 0])
  })

  const cases: { values: readonly unknown[]; error: string }[] = [
    { values: ['a..b'], error: 'TypeError: Parameter "name" is not a domain name; write other' },
    { values: [''], error: 'TypeError: Parameter "name" is missing' },
    { values: [7], error: 'TypeError: "name" is not a string of at most 1016 characters' },
    { values: ['a'.repeat(1017)], error: 'TypeError: "name" is not a string of at most 1016' },
    { values: ['a.test', 'NONE'], error: 'TypeError: Parameter "type" is neither a number from' },
    { values: ['a.test', 65536], error: 'TypeError: Parameter "type" is neither a number from' },
    { values: ['a.test', {}], error: 'TypeError: "type" is neither a number nor the name of' },
  ]
  for (const { values, error } of cases) {
    test(`gets an error for ${JSON.stringify(values).slice(0, 40)}`, async () => {
      assert.ok(String(Object(await resolve(values)).error).startsWith(error))
    })
  }

  test('is refused while the gateway has no scope for it', async () => {
    assert.deepEqual(await resolve(['web.shop.svc.cluster.local'], 'CLOSED'), {
      error:
        'Error: The gateway answers no service binding: set SERVICE_SCOPE to the namespaces ' +
        'that other Workers may query, or to "*"',
    })
  })

  test('is refused by a gateway whose scope is wrong', async () => {
    assert.deepEqual(await resolve(['web.shop.svc.cluster.local'], 'BROKEN'), {
      error: 'HttpError: SERVICE_SCOPE: "namespaces" has "Shop", which no namespace is called',
    })
  })
})
