import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { block, directive, problemsOf, serve } from '../../../ask.ts'

const FILES = { 'cert.pem': 'CERT', 'key.pem': 'KEY', 'ca.pem': 'CA', 'bad.pem': 'bad' }

describe('tls', () => {
  const NONE = { cert: 'CERT', key: 'KEY', clientAuth: 'nocert' }
  const cases: { line: string; service: object }[] = [
    { line: 'tls cert.pem key.pem', service: NONE },
    { line: 'tls cert.pem key.pem ca.pem', service: { ...NONE, ca: 'CA' } },
    ...['nocert', 'request', 'require', 'verify_if_given', 'require_and_verify'].map(
      (clientAuth) => ({
        line: directive('tls cert.pem key.pem ca.pem', `client_auth ${clientAuth}`),
        service: { ...NONE, ca: 'CA', clientAuth },
      }),
    ),
  ]
  for (const { line, service } of cases) {
    test(`reads "${line.replaceAll(/\s+/g, ' ')}"`, () => {
      const { resolver } = serve(`tls://. {\n  ${line}\n  whoami\n}`, { files: FILES })
      const features = resolver.features.map(({ kind, ...one }) =>
        'reread' in one ? [kind, one.service, one.reread()] : [],
      )
      assert.deepEqual(features, [['tls', service, service]])
      const [{ transport, port, tls } = assert.fail('nobody listens')] = resolver.listeners
      assert.deepEqual({ transport, port, tls }, { transport: 'tls', port: 853, tls: service })
    })
  }

  test('is for all blocks at one port, and for no other transport', () => {
    const corefile = `
https://a.org {
  whoami
}
https://b.org {
  tls cert.pem key.pem
}
. {
  tls cert.pem key.pem
}`
    const { listeners } = serve(corefile, { files: FILES }).resolver
    assert.deepEqual(
      listeners.map(({ transport, port, tls }) => [transport, port, tls?.cert]),
      [
        ['https', 443, 'CERT'],
        ['dns', 53, 'CERT'],
      ],
    )
  })

  test('reads files below the root of its block', () => {
    const line = 'root certs\n  tls cert.pem key.pem'
    const files = { 'certs/cert.pem': 'C', 'certs/key.pem': 'K' }
    const [feature] = serve(block(line), { files }).resolver.features
    assert.deepEqual(feature?.kind === 'tls' && feature.service.cert, 'C')
  })

  const problems: { line: string; problem: string }[] = [
    {
      line: 'tls',
      problem: ':2:3: "tls" obtains no certificates by itself (ACME); write "tls CERT KEY"',
    },
    {
      line: 'tls cert.pem',
      problem: ':2:3: "tls" takes the files CERT, KEY and optionally CA, got 1 argument(s)',
    },
    {
      line: 'tls cert.pem key.pem ca.pem more',
      problem: ':2:3: "tls" takes the files CERT, KEY and optionally CA, got 4 argument(s)',
    },
    { line: 'tls cert.pem none.pem', problem: ':2:16: cannot read "none.pem"' },
    { line: 'tls cert.pem bad.pem', problem: ':2:3: the key is bad' },
    {
      line: directive('tls cert.pem key.pem', 'client_auth maybe'),
      problem:
        ':3:17: "maybe" is not one of nocert, request, require, verify_if_given, ' +
        'require_and_verify',
    },
    {
      line: directive('tls cert.pem key.pem', 'client_auth'),
      problem: ':3:5: "client_auth" takes 1 argument(s), got 0',
    },
    {
      line: directive('tls cert.pem key.pem', 'keylog keys'),
      problem: ':3:5: "keylog" is not supported: it would expose TLS session keys',
    },
    {
      line: directive('tls cert.pem key.pem', 'ciphers all'),
      problem: ':3:5: "tls" has no option "ciphers"; it has client_auth',
    },
  ]
  for (const { line, problem } of problems) {
    test(`refuses "${line.replaceAll(/\s+/g, ' ')}"`, () => {
      assert.deepEqual(problemsOf(block(line), { files: FILES }), [`Corefile${problem}`])
    })
  }
})
