import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { formatHex } from '../../../../src/dns/bytes/bytes.ts'
import { parseAddress } from '../../../../src/dns/names/address.ts'
import {
  type CookieScope,
  checkCookie,
  DailySecrets,
} from '../../../../src/resolver/plugins/cookies/server-cookie.ts'

const SECRET = 'e5e973e5a6b2a43f48e7dc849e37bfcf'
const OLD_SECRET = 'dd3bdf9344b678b185a6f5cb60fca715'
const NEW_SECRET = '445536bcd2513298075a5d379663c962'

function bytes(hex: string): Uint8Array {
  return Uint8Array.from(Buffer.from(hex, 'hex'))
}

function scopeOf(address: string, nowSeconds: number): CookieScope {
  return { address: parseAddress(address) ?? assert.fail(address), nowSeconds }
}

describe('the test vectors of RFC 9018', () => {
  const vectors = [
    {
      name: 'A.1: a new server cookie',
      secrets: [SECRET],
      address: '198.51.100.100',
      at: 1559731985,
      option: '2464c4abcf10c957',
      isValid: false,
      reply: '2464c4abcf10c957010000005cf79f111f8130c3eee29480',
    },
    {
      name: 'A.2: the same client renews it after 40 minutes',
      secrets: [SECRET],
      address: '198.51.100.100',
      at: 1559734385,
      option: '2464c4abcf10c957010000005cf79f111f8130c3eee29480',
      isValid: true,
      reply: '2464c4abcf10c957010000005cf7a871d4a564a1442aca77',
    },
    {
      name: 'A.3: reserved bytes of the request count in its hash, and are 0 in a new cookie',
      secrets: [SECRET],
      address: '203.0.113.203',
      at: 1559727985 + 2400,
      option: 'fc93fc62807ddb8601abcdef5cf78f71a314227b6679ebf5',
      isValid: true,
    },
    {
      name: 'A.3: the renewed cookie of another client',
      secrets: [SECRET],
      address: '203.0.113.203',
      at: 1559734700,
      option: 'fc93fc62807ddb8601abcdef5cf78f71a314227b6679ebf5',
      isValid: false,
      reply: 'fc93fc62807ddb86010000005cf7a9acf73a7810aca2381e',
    },
    {
      name: 'A.4: an IPv6 client after the secret changed',
      secrets: [NEW_SECRET, OLD_SECRET],
      address: '2001:db8:220:1:59de:d0f4:8769:82b8',
      at: 1559741961,
      option: '22681ab97d52c298010000005cf7c57926556bd0934c72f8',
      isValid: true,
      reply: '22681ab97d52c298010000005cf7c609a6bb79d16625507a',
    },
  ]
  for (const { name, secrets, address, at, option, isValid, reply } of vectors) {
    test(name, () => {
      const verdict = checkCookie(secrets.map(bytes), bytes(option), scopeOf(address, at))
      assert.equal(verdict.isValid, isValid)
      if (reply !== undefined) assert.equal(formatHex(verdict.data), reply)
    })
  }
})

describe('a server cookie', () => {
  const START = 1_800_000_000
  const secrets = [bytes(SECRET)]
  const { data } = checkCookie(secrets, bytes('0011223344556677'), scopeOf('192.0.2.1', START))
  const cases = [
    { name: 'is valid at once', after: 0, isValid: true, isSame: true },
    { name: 'stays for 30 minutes', after: 1800, isValid: true, isSame: true },
    { name: 'is renewed after 30 minutes', after: 1801, isValid: true, isSame: false },
    { name: 'is valid for an hour', after: 3600, isValid: true, isSame: false },
    { name: 'is stale after an hour', after: 3601, isValid: false, isSame: false },
    { name: 'may be 5 minutes ahead', after: -300, isValid: true, isSame: true },
    { name: 'may not be further ahead', after: -301, isValid: false, isSame: false },
  ]
  for (const { name, after, isValid, isSame } of cases) {
    test(name, () => {
      const verdict = checkCookie(secrets, data, scopeOf('192.0.2.1', START + after))
      assert.equal(verdict.isValid, isValid)
      assert.equal(formatHex(verdict.data) === formatHex(data), isSame)
    })
  }

  test('survives the wrap of the timestamp in 2106', () => {
    const client = bytes('0011223344556677')
    const before = checkCookie(secrets, client, scopeOf('192.0.2.1', 2 ** 32 - 10))
    assert.ok(checkCookie(secrets, before.data, scopeOf('192.0.2.1', 2 ** 32 + 10)).isValid)
  })

  test('is valid for one address only', () => {
    const address = fc.uint8Array({ minLength: 4, maxLength: 4 })
    const property = fc.property(address, address, (own, other) => {
      const mine = checkCookie(secrets, data, { address: own, nowSeconds: START }).data
      const verdict = checkCookie(secrets, mine, { address: other, nowSeconds: START })
      assert.equal(verdict.isValid, formatHex(own) === formatHex(other))
    })
    fc.assert(property)
  })

  test('is valid as a whole only', () => {
    const change = fc.property(fc.nat(data.length * 8 - 1), (bit) => {
      const changed = data.slice()
      changed[bit >>> 3] = (changed[bit >>> 3] ?? 0) ^ (1 << (bit & 7))
      assert.equal(checkCookie(secrets, changed, scopeOf('192.0.2.1', START)).isValid, false)
    })
    fc.assert(change)
  })

  test('of any bytes gets a valid one in return', () => {
    const option = fc.uint8Array({ minLength: 8, maxLength: 40 })
    const property = fc.property(option, (sent) => {
      const scope = scopeOf('2001:db8::1', START)
      const reply = checkCookie(secrets, sent, scope)
      assert.equal(reply.isValid, false)
      assert.equal(formatHex(reply.data.subarray(0, 8)), formatHex(sent.subarray(0, 8)))
      assert.ok(checkCookie(secrets, reply.data, scope).isValid)
    })
    fc.assert(property)
  })
})

describe('daily secrets', () => {
  const DAY = 86_400
  const texts = (seconds: number, from = SECRET): string[] =>
    new DailySecrets(bytes(from)).at(seconds).map(formatHex)

  test('differ each day, and the previous one stays', () => {
    const days = Array.from({ length: 50 }, (_, i) => texts(i * DAY))
    assert.equal(new Set(days.map(([first]) => first)).size, 50)
    for (const [i, [, previous]] of days.entries()) {
      if (i > 0) assert.equal(previous, days[i - 1]?.[0])
    }
  })

  test('have 16 bytes, and are the same for threads with the same clock', () => {
    assert.deepEqual(texts(5 * DAY), texts(6 * DAY - 1))
    assert.match(texts(0)[0] ?? '', /^[0-9a-f]{32}$/)
    assert.notDeepEqual(texts(0), texts(0, NEW_SECRET))
  })

  test('verify a cookie of the previous day, and renew it', () => {
    const daily = new DailySecrets(bytes(SECRET))
    const [before, after] = [20_000 * DAY - 10, 20_000 * DAY + 10]
    const client = bytes('0011223344556677')
    const first = checkCookie(daily.at(before), client, scopeOf('192.0.2.1', before)).data
    const second = checkCookie(daily.at(after), first, scopeOf('192.0.2.1', after))
    assert.equal(second.isValid, true)
    assert.notEqual(formatHex(second.data), formatHex(first))
  })
})
