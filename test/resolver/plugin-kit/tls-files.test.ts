import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { options } from '../../../src/corefile/arguments.ts'
import type { TlsIdentity } from '../../../src/resolver/contract/host.ts'
import { tlsIdentity } from '../../../src/resolver/plugin-kit/tls-files.ts'
import { directive, parseDirective } from '../../ask.ts'
import { FakeHost } from '../../fake-host.ts'

const CA = '-----BEGIN CERTIFICATE-----\nca'
const CERT = '-----BEGIN CERTIFICATE-----\ncert'
const KEY = '-----BEGIN PRIVATE KEY-----\nkey'
const FILES = { 'ca.pem': CA, 'cert.pem': CERT, 'key.pem': KEY }

function parse(line: string): TlsIdentity {
  const [option] = options(parseDirective(directive('x', line)))
  if (option === undefined) throw new TypeError(line)
  return tlsIdentity(option, new FakeHost({ files: FILES }).readText)
}

describe('tls', () => {
  const cases: [line: string, identity: TlsIdentity][] = [
    ['tls', {}],
    ['tls ca.pem', { ca: CA }],
    ['tls cert.pem key.pem', { cert: CERT, key: KEY }],
    ['tls cert.pem key.pem ca.pem', { cert: CERT, key: KEY, ca: CA }],
  ]
  for (const [line, identity] of cases) {
    test(`reads "${line}"`, () => {
      assert.deepEqual(parse(line), identity)
    })
  }

  const problems: [line: string, problem: RegExp][] = [
    ['tls a b c d', /:3:5: "tls" takes 0 to 3 argument\(s\), got 4$/],
    ['tls cert.pem nosuch.pem', /:3:18: cannot read "nosuch.pem"$/],
  ]
  for (const [line, problem] of problems) {
    test(`refuses "${line}"`, () => {
      assert.throws(() => parse(line), { name: 'ConfigError', message: problem })
    })
  }
})
