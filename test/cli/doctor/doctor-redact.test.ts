import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import {
  environmentSecrets,
  kubeconfigSecrets,
  redactCorefile,
  redactor,
} from '../../../src/cli/doctor/doctor-redact.ts'

const HEX = '0123456789abcdef'.repeat(4)
const BASE64 = 'q1W2e3R4t5Y6u7I8o9P0a1S2d3F4g5H6j7K8l9Z0x1c='

describe('redactor', () => {
  const cases: [name: string, text: string, out: string][] = [
    ['a known value', 'a planted-value b', 'a [redacted] b'],
    ['the longer of two known values', 'planted-value-2', '[redacted]'],
    ['a token of a client', 'x kdt_0123456789ab_abcDEF-_x y', 'x [redacted] y'],
    ['a JSON Web Token', 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIi.c2ln', '[redacted]'],
    ['a header', 'Authorization: Bearer abc.def, x', 'Authorization: Bearer [redacted], x'],
    ['a user of a URL', 'https://me:pw@a.test/x', 'https://[redacted]@a.test/x'],
    ['a query of a URL', 'see https://a.test/x?k=v&t=u now', 'see https://a.test/x?[redacted] now'],
    ['a key in hexadecimal', `key ${HEX} end`, 'key [redacted] end'],
    ['a key in base64', `"${BASE64}"`, '"[redacted]"'],
    [
      'a private key',
      'a -----BEGIN EC PRIVATE KEY-----\nMHc\n-----END EC PRIVATE KEY----- b',
      'a [redacted] b',
    ],
  ]
  const redact = redactor(['planted-value', 'planted-value-2', 'abc', ''])
  for (const [name, text, out] of cases) {
    test(`takes out ${name}`, () => assert.equal(redact(text), out))
  }

  const kept = [
    'abc is too short to be known as a secret',
    'kubedoh-server-7d9c8b6f55-x2x4q is not Ready',
    `image: registry.test/kubedoh@sha256:${HEX}`,
    'coredns_dns_requests_total{server="dns://:53",zone="cluster.local."} 7',
    '/apis/discovery.k8s.io/v1/namespaces/kube-system/endpointslices',
    'uid 123e4567-e89b-12d3-a456-426614174000',
    'tls://1.1.1.1 and https://dns.example.org/dns-query',
  ]
  for (const text of kept) {
    test(`leaves other text: ${text}`, () => assert.equal(redact(text), text))
  }
})

test('redactCorefile takes out what follows the name of a secret', () => {
  const text = `. {
  tsig {
    secret key.test. aGVsbG8=
  }
  etcd example.org {
    credentials me pw
  }
  route53 z {
    aws_access_key A B
  }
  # the password is x
  forward . https://a.test/dns-query?token=t
  token {
  whoami
}`
  const out = `. {
  tsig {
    secret [redacted]
  }
  etcd example.org {
    credentials [redacted]
  }
  route53 z {
    aws_access_key [redacted]
  }
  # the password [redacted]
  forward . https://a.test/dns-query?token [redacted]
  token {
  whoami
}`
  assert.equal(redactCorefile(text), out)
})

test('environmentSecrets finds the variables that are named as secrets are', () => {
  const environment = { KUBEDOH_SIGNING_KEY: 'a', DB_PASSWORD: 'b', PATH: 'c', NONE: undefined }
  assert.deepEqual(environmentSecrets(environment), ['a', 'b'])
})

test('kubeconfigSecrets finds tokens, passwords, keys and values of variables', () => {
  const yaml = `users:
- name: me
  user: { token: t1, password: "p 1" }
- user:
    client-key-data: k1
    auth-provider: { config: { id-token: i1 } }
    exec: { env: [{ name: A, value: v1 }] }
`
  assert.deepEqual(kubeconfigSecrets(yaml), ['t1', 'p 1', 'k1', 'i1', 'v1'])
  assert.deepEqual(kubeconfigSecrets('{"users":[{"user":{"token":"t2"}}]}'), ['t2'])
})
