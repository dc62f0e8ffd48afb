import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { ForwardedHead, TrustedProxies } from '../../../src/gateway/doh/trusted-proxies.ts'

const TRUSTED = '10.0.0.0/8 192.0.2.7 2001:db8:f::/48 ::ffff:198.51.100.0/120'
const proxies = TrustedProxies.parse(TRUSTED) ?? assert.fail('no proxies')

type Sent = Readonly<Record<string, string>>
const find = (peer: string, sent: Sent): ReturnType<TrustedProxies['find']> =>
  proxies.find(peer, { header: (name) => sent[name] })
const list = (text: string): Sent => ({ 'x-forwarded-for': text })
const forwarded = (text: string): Sent => ({ forwarded: text })

describe('the client', () => {
  const many = (size: number, one: string): string => Array(size).fill(one).join(', ')
  const cases: readonly { name: string; peer?: string; sent: Sent; is: string | undefined }[] = [
    { name: 'of no header is the proxy', sent: {}, is: '10.0.0.1' },
    { name: 'of a list', sent: list('203.0.113.5'), is: '203.0.113.5' },
    {
      name: 'is the last one that is no proxy',
      sent: list('203.0.113.1, 203.0.113.5, 10.9.9.9,192.0.2.7'),
      is: '203.0.113.5',
    },
    { name: 'may be a proxy', sent: list('10.0.0.3, 10.0.0.2'), is: '10.0.0.3' },
    { name: 'after garbage', sent: list('203.0.113.5, <x>, 10.0.0.2'), is: '10.0.0.2' },
    { name: 'after "unknown"', sent: list('203.0.113.5, unknown'), is: '10.0.0.1' },
    { name: 'after an empty part', sent: list('203.0.113.5,,10.0.0.4'), is: '10.0.0.4' },
    { name: 'of an empty list', sent: list(''), is: '10.0.0.1' },
    { name: 'with a zone', sent: list('fe80::1%eth0'), is: '10.0.0.1' },
    { name: 'with leading zeros', sent: list('203.0.113.010'), is: '10.0.0.1' },
    { name: 'with a port', sent: list('203.0.113.5:4711'), is: '203.0.113.5' },
    { name: 'of IPv6', sent: list('2001:DB8::1'), is: '2001:db8::1' },
    { name: 'of IPv6 in brackets', sent: list('[2001:db8::1]:80'), is: '2001:db8::1' },
    { name: 'of IPv6 half in brackets', sent: list('[2001:db8::1'), is: '10.0.0.1' },
    { name: 'that is mapped', sent: list('::ffff:203.0.113.5'), is: '203.0.113.5' },
    { name: 'behind a mapped proxy', sent: list('203.0.113.5, 198.51.100.9'), is: '203.0.113.5' },
    {
      name: 'within 32 addresses',
      sent: list(`203.0.113.5, ${many(31, '10.0.0.2')}`),
      is: '203.0.113.5',
    },
    {
      name: 'beyond 32 addresses',
      sent: list(`203.0.113.5, ${many(32, '10.0.0.2')}`),
      is: '10.0.0.2',
    },
    {
      name: 'after 4,096 characters of another',
      sent: list(`${'1'.repeat(9000)}, 203.0.113.5`),
      is: '203.0.113.5',
    },
    { name: 'of 9,000 characters', sent: list('1'.repeat(9000)), is: '10.0.0.1' },
    { name: 'of Forwarded', sent: forwarded('for=203.0.113.5;proto=https'), is: '203.0.113.5' },
    {
      name: 'of several elements',
      sent: forwarded('for=203.0.113.1, For="[2001:db8::1]:4711" , for=10.0.0.2;by=_x'),
      is: '2001:db8::1',
    },
    {
      name: 'after an obfuscated one',
      sent: forwarded('for=203.0.113.5, for=_hidden'),
      is: '10.0.0.1',
    },
    {
      name: 'after an open quote',
      sent: forwarded('for="203.0.113.5, for=10.0.0.2'),
      is: '10.0.0.2',
    },
    { name: 'before a last semicolon', sent: forwarded('for=203.0.113.5;'), is: '203.0.113.5' },
    { name: 'between semicolons', sent: forwarded(';;for=203.0.113.5; ;'), is: '203.0.113.5' },
    {
      name: 'with an obfuscated port',
      sent: forwarded('for="[2001:db8::1]:_a.b-c"'),
      is: '2001:db8::1',
    },
    {
      name: 'with an obfuscated port that is empty',
      sent: forwarded('for="203.0.113.5:_"'),
      is: '10.0.0.1',
    },
    {
      name: 'beside quoted separators',
      sent: forwarded('for=203.0.113.5;by="_a;b, c";x="\\", for=203.0.113.6"'),
      is: '203.0.113.5',
    },
    {
      name: 'after quotes of the client',
      sent: forwarded('for="203.0.113.1\\", for=203.0.113.5;by="_a", for=10.0.0.2'),
      is: '203.0.113.5',
    },
    { name: 'named twice', sent: forwarded('for=203.0.113.5;for=203.0.113.6'), is: '10.0.0.1' },
    {
      name: 'of both lists',
      sent: { ...list('203.0.113.5'), ...forwarded('for=203.0.113.9') },
      is: '203.0.113.5',
    },
    { name: 'of Cloudflare', sent: { 'cf-connecting-ip': '203.0.113.5' }, is: '203.0.113.5' },
    {
      name: 'of Cloudflare beside a list',
      sent: { ...list('203.0.113.5'), 'cf-connecting-ip': '203.0.113.9' },
      is: '203.0.113.5',
    },
    { name: 'at IPv6', peer: '2001:db8:f::9', sent: list('203.0.113.5'), is: '203.0.113.5' },
    {
      name: 'at a mapped peer',
      peer: '::ffff:10.0.0.1',
      sent: list('203.0.113.5'),
      is: '203.0.113.5',
    },
    { name: 'of a stranger', peer: '203.0.113.77', sent: list('203.0.113.5'), is: undefined },
    { name: 'of nobody', peer: '', sent: list('203.0.113.5'), is: undefined },
  ]
  for (const { name, peer = '10.0.0.1', sent, is } of cases) {
    test(name, () => assert.equal(find(peer, sent)?.address, is))
  }
})

describe('the URL', () => {
  const cases: readonly { name: string; sent: Sent; is: readonly unknown[] }[] = [
    { name: 'of no header', sent: {}, is: [undefined, undefined] },
    {
      name: 'of headers',
      sent: { 'x-forwarded-proto': 'HTTPS', 'x-forwarded-host': 'dns.example.org:8443' },
      is: ['https', 'dns.example.org:8443'],
    },
    {
      name: 'of lists',
      sent: { 'x-forwarded-proto': 'https, http', 'x-forwarded-host': 'evil.test, [2001:db8::1]' },
      is: ['http', '[2001:db8::1]'],
    },
    {
      name: 'of garbage',
      sent: { 'x-forwarded-proto': 'gopher', 'x-forwarded-host': 'a/b' },
      is: [undefined, undefined],
    },
    {
      name: 'of too long a name',
      sent: { 'x-forwarded-host': 'a'.repeat(260) },
      is: [undefined, undefined],
    },
    {
      name: "of the client's element",
      sent: forwarded(
        'for=203.0.113.1;proto=http;host=evil.test,for=203.0.113.5;proto=https;host="a.test:1",for=10.0.0.2;proto=http',
      ),
      is: ['https', 'a.test:1'],
    },
  ]
  for (const { name, sent, is } of cases) {
    test(name, () => {
      const { scheme, host } = find('10.0.0.1', sent) ?? assert.fail('no proxy')
      assert.deepEqual([scheme, host], is)
    })
  }
})

describe('the networks', () => {
  for (const text of ['10.0.0.0/33', 'proxy.example.org', '10.0.0', '10.0.0.0/8,192.0.2.1']) {
    test(`refuse ${text}`, () => {
      assert.throws(() => TrustedProxies.parse(`10.0.0.1 ${text}`), /^RangeError: has ".*", exp/)
    })
  }
  test('are 256 at most', () => {
    const text = (size: number): string => Array(size).fill('10.0.0.1').join(' ')
    assert.equal(TrustedProxies.parse(text(256))?.has('10.0.0.1'), true)
    assert.throws(() => TrustedProxies.parse(text(257)), /over 256/)
  })
  test('may be none', () => assert.equal(TrustedProxies.parse(' '), undefined))
})

test('a head has the ends of the connection, and no port of a client that a proxy names', () => {
  const ends = { port: 4711, localAddress: '192.0.2.53', localPort: 443 }
  const head = { method: 'GET', path: '/', header: () => null, ends: () => ends }
  const of = (address: string): unknown => new ForwardedHead({ ...head, address }, proxies).ends()
  assert.deepEqual(of('10.0.0.1'), { ...ends, port: 0 })
  assert.deepEqual(of('203.0.113.77'), ends)
})

test('a head has the headers of nobody but a proxy', () => {
  const sent: Sent = { ...list('203.0.113.5'), 'x-forwarded-proto': 'https', host: 'a', x: '1' }
  const head = { method: 'GET', path: '/', header: (name: string) => sent[name] }
  const of = (address: string): readonly unknown[] => {
    const one = new ForwardedHead({ ...head, address }, proxies)
    return [one.address, one.header('x-forwarded-proto'), one.header('host'), one.header('x')]
  }
  assert.deepEqual(of('10.0.0.1'), ['203.0.113.5', 'https', 'a', '1'])
  assert.deepEqual(of('203.0.113.77'), ['203.0.113.77', undefined, 'a', '1'])
})
