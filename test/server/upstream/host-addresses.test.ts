import assert from 'node:assert/strict'
import { setImmediate } from 'node:timers/promises'
import { describe, test } from 'vitest'
import { TYPE } from '../../../src/dns/names/rr-type.ts'
import {
  addressesOf,
  findAddresses,
  HostAddresses,
} from '../../../src/server/upstream/host-addresses.ts'
import { formatQuestion, writeReplyText } from '../../message-text.ts'
import { fakeUdp } from '../clients.ts'

/** Lets pending promises settle. */
const settled = (): Promise<void> => setImmediate()

describe('HostAddresses', () => {
  test('looks a name up once in 30 seconds', async () => {
    let nowMs = 0
    let count = 0
    const addresses = new HostAddresses(
      () => Promise.resolve([`192.0.2.${++count}`]),
      () => nowMs,
    )
    const found: (readonly string[])[] = []
    for (const at of [0, 29_999, 30_000, 30_001, 60_000]) {
      nowMs = at
      found.push(await addresses.current())
      await settled()
    }
    const [first, second] = [['192.0.2.1'], ['192.0.2.2']]
    assert.deepEqual(found, [first, first, first, second, second])
    assert.equal(count, 3)
  })

  test('does not wait for a lookup once there are addresses', async () => {
    let nowMs = 0
    const silent = Promise.withResolvers<string[]>()
    const lookups = [Promise.resolve(['192.0.2.1']), silent.promise]
    let count = 0
    const addresses = new HostAddresses(
      () => lookups[count++] ?? Promise.resolve([]),
      () => nowMs,
    )
    await addresses.current()
    for (nowMs = 30_000; nowMs < 120_000; nowMs += 1000) {
      assert.deepEqual(addresses.current(), ['192.0.2.1'])
    }
    assert.equal(count, 2)
    silent.resolve(['192.0.2.2'])
    await settled()
    assert.deepEqual(addresses.current(), ['192.0.2.2'])
  })

  test('looks it up once for concurrent queries', async () => {
    let count = 0
    const addresses = new HostAddresses(() => Promise.resolve([`192.0.2.${++count}`]))
    const found = await Promise.all([addresses.current(), addresses.current()])
    assert.deepEqual(found, [['192.0.2.1'], ['192.0.2.1']])
  })

  test('keeps the previous addresses when a lookup fails', async () => {
    let nowMs = 0
    let isBroken = false
    const find = (): Promise<string[]> =>
      isBroken ? Promise.reject(new Error('nobody knows')) : Promise.resolve(['192.0.2.1'])
    const addresses = new HostAddresses(find, () => nowMs)
    await addresses.current()
    isBroken = true
    for (const at of [40_000, 69_999, 80_000]) {
      nowMs = at
      assert.deepEqual(addresses.current(), ['192.0.2.1'])
      await settled()
    }
  })

  test('reports why there are none, and retries at once', async () => {
    const answers = [Promise.reject(new Error('nobody knows')), Promise.resolve(['::1'])]
    for (const answer of answers) answer.catch(() => undefined)
    const addresses = new HostAddresses(() => answers.shift() ?? Promise.resolve([]))
    await assert.rejects(async () => addresses.current(), /nobody knows/)
    assert.deepEqual(await addresses.current(), ['::1'])
  })

  test('takes no name without addresses, and sixteen of many', async () => {
    const none = new HostAddresses(() => Promise.resolve([]))
    await assert.rejects(async () => none.current(), /no address/)
    const many = Array.from({ length: 20 }, (_, i) => `192.0.2.${i}`)
    assert.equal((await new HostAddresses(() => Promise.resolve(many)).current()).length, 16)
  })
})

describe('addressesOf', () => {
  test('knows a name by its resolvers, also after a reload', () => {
    const resolvers = ['127.0.0.1:1', '127.0.0.2:1']
    const known = addressesOf('dns.example.org', resolvers)
    assert.equal(addressesOf('dns.example.org', [...resolvers]), known)
    for (const other of [addressesOf('dns.example.org', []), addressesOf('x.test', resolvers)]) {
      assert.notEqual(other, known)
    }
  })

  test('forgets the oldest of 256 names', () => {
    const first = addressesOf('first.test', [])
    for (let i = 1; i < 256; i++) addressesOf(`n${i}.test`, [])
    assert.equal(addressesOf('first.test', []), first)
    addressesOf('n256.test', [])
    addressesOf('n257.test', [])
    assert.equal(addressesOf('first.test', []), first)
    for (let i = 0; i < 256; i++) addressesOf(`m${i}.test`, [])
    assert.notEqual(addressesOf('first.test', []), first)
  })
})

describe('findAddresses', () => {
  test('uses the system’s resolver', async () => {
    const found = await findAddresses('localhost', [])
    assert.ok(found.includes('127.0.0.1') || found.includes('::1'), String(found))
  })

  test('queries the given servers for both families', async (t) => {
    const server = await fakeUdp(t, (query) => {
      const isV4 = formatQuestion(query).startsWith(
        `dns.example.org. IN ${TYPE.A === 1 ? 'A' : ''}`,
      )
      const isV6 = formatQuestion(query).includes(' AAAA ')
      const record = isV6 ? 'AAAA 2001:db8::1' : 'A 192.0.2.1'
      assert.ok(isV4)
      return [writeReplyText(['NOERROR ra', `dns.example.org. 60 IN ${record}`], query)]
    })
    const found = await findAddresses('dns.example.org', [`127.0.0.1:${server.port}`])
    assert.deepEqual(found, ['192.0.2.1', '2001:db8::1'])
  })

  test('reports an unknown name', async (t) => {
    const server = await fakeUdp(t, (query) => [writeReplyText(['NXDOMAIN ra'], query)])
    const found = findAddresses('dns.example.org', [`127.0.0.1:${server.port}`])
    await assert.rejects(found, /ENOTFOUND/)
  })
})
