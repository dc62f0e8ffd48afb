import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { TYPE } from '../../src/dns/rr-type.ts'
import { findAddresses, HostAddresses } from '../../src/upstream/host-addresses.ts'
import { formatQuestion, writeReplyText } from '../message-text.ts'
import { fakeUdp } from '../server/clients.ts'

describe('HostAddresses', () => {
  test('looks a name up once in 30 seconds', async () => {
    let nowMs = 0
    let count = 0
    const addresses = new HostAddresses(
      () => Promise.resolve([`192.0.2.${++count}`]),
      () => nowMs,
    )
    const found: (readonly string[])[] = []
    for (const at of [0, 29_999, 30_000]) {
      nowMs = at
      found.push(await addresses.current())
    }
    assert.deepEqual(found, [['192.0.2.1'], ['192.0.2.1'], ['192.0.2.2']])
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
    nowMs = 40_000
    assert.deepEqual(await addresses.current(), ['192.0.2.1'])
  })

  test('reports why there are none, and retries at once', async () => {
    const answers = [Promise.reject(new Error('nobody knows')), Promise.resolve(['::1'])]
    for (const answer of answers) answer.catch(() => undefined)
    const addresses = new HostAddresses(() => answers.shift() ?? Promise.resolve([]))
    await assert.rejects(addresses.current(), /nobody knows/)
    assert.deepEqual(await addresses.current(), ['::1'])
  })

  test('takes no name without addresses, and sixteen of many', async () => {
    await assert.rejects(new HostAddresses(() => Promise.resolve([])).current(), /no address/)
    const many = Array.from({ length: 20 }, (_, i) => `192.0.2.${i}`)
    assert.equal((await new HostAddresses(() => Promise.resolve(many)).current()).length, 16)
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
