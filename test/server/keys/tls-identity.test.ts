import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { describe, test } from 'vitest'
import type { Upstream } from '../../../src/resolver/contract/host.ts'
import { tlsOptions } from '../../../src/server/keys/tls-identity.ts'
import { AUTHORITY, CLIENT, SERVER } from '../../certificates.ts'

const PLAIN: Upstream = { transport: 'tls', address: '127.0.0.1', port: 853 }
const URL_OF: Upstream = { ...PLAIN, transport: 'https', url: 'https://localhost:8443/dns-query' }

describe('whom a certificate must be for', () => {
  // That of the tests is for "localhost" and 127.0.0.1.
  const cases: { name: string; upstream: Upstream; sni: string | undefined; isGood: boolean }[] = [
    { name: 'is the address', upstream: PLAIN, sni: undefined, isGood: true },
    {
      name: 'is no other address',
      upstream: { ...PLAIN, address: '127.0.0.2' },
      sni: undefined,
      isGood: false,
    },
    {
      name: 'is the name that is configured',
      upstream: { ...PLAIN, address: '127.0.0.2', serverName: 'localhost' },
      sni: 'localhost',
      isGood: true,
    },
    {
      name: 'is not the address where a name is configured',
      upstream: { ...PLAIN, serverName: 'dns.example.org' },
      sni: 'dns.example.org',
      isGood: false,
    },
    {
      name: 'may be an address that is configured',
      upstream: { ...PLAIN, address: '127.0.0.2', serverName: '127.0.0.1' },
      sni: undefined,
      isGood: true,
    },
    { name: 'is the host of a URL', upstream: URL_OF, sni: 'localhost', isGood: true },
    {
      name: 'is no other host than that of the URL',
      upstream: { ...URL_OF, url: 'https://dns.example.org/' },
      sni: 'dns.example.org',
      isGood: false,
    },
    {
      name: 'is an address in a URL',
      upstream: { ...URL_OF, url: 'https://[::1]/' },
      sni: undefined,
      isGood: false,
    },
  ]
  const shown = new X509Certificate(SERVER.cert).toLegacyObject()
  for (const { name, upstream, sni, isGood } of cases) {
    test(name, () => {
      const options = tlsOptions(upstream, { ca: AUTHORITY })
      assert.equal(options.servername, sni)
      assert.equal(options.rejectUnauthorized, true)
      assert.equal(options.checkServerIdentity?.('ignored', shown) === undefined, isGood)
    })
  }
})

describe('an invalid identity', () => {
  const cases: { name: string; tls: Parameters<typeof tlsOptions>[1]; says: RegExp }[] = [
    {
      name: 'is an authority that is no certificate',
      tls: { ca: 'x' },
      says: /no PEM certificate/,
    },
    { name: 'is a certificate without its key', tls: { cert: CLIENT.cert, key: '' }, says: /./ },
    {
      name: 'is a certificate with the key of another',
      tls: { cert: CLIENT.cert, key: SERVER.key },
      says: /key values mismatch/i,
    },
    { name: 'is an invalid certificate', tls: { cert: 'x', key: CLIENT.key }, says: /./ },
  ]
  for (const { name, tls, says } of cases) {
    test(name, () => {
      assert.throws(() => tlsOptions(PLAIN, tls), says)
    })
  }

  test('is neither a valid one nor none', () => {
    tlsOptions(PLAIN, { ca: AUTHORITY, ...CLIENT })
    tlsOptions(PLAIN, {})
  })
})
