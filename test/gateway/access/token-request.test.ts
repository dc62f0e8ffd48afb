import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { createTokenAdvice, readTokenRequest } from '../../../src/gateway/access/token-request.ts'
import { readGatewayConfig } from '../../../src/gateway/config/config.ts'
import { HttpError } from '../../../src/gateway/doh/http-error.ts'
import { keys } from '../../cluster/follow/memory-gateway.ts'

describe('a token request', () => {
  test('that says nothing is for all names of the clusters, and no others', () => {
    for (const text of ['', '{}']) {
      assert.deepEqual(readTokenRequest(text), {
        name: '',
        scope: { clusters: ['*'], origins: ['*'], namespaces: ['*'], recurse: false },
        identities: [],
        lifeMs: undefined,
      })
    }
  })

  test('says what it wants; origins as names are compared, patterns in order and once', () => {
    const wish = readTokenRequest(
      JSON.stringify({
        name: 'the CI of team shop',
        clusters: ['prod'],
        origins: ['Prod.Example.org', '*.Example.net.'],
        namespaces: ['team-*', 'shop', 'shop'],
        recurse: true,
        identities: [`cert:${'0a'.repeat(32)}`],
        expiresInSeconds: 3600,
      }),
    )
    assert.deepEqual(wish, {
      name: 'the CI of team shop',
      scope: {
        clusters: ['prod'],
        origins: ['*.example.net.', 'prod.example.org.'],
        namespaces: ['shop', 'team-*'],
        recurse: true,
      },
      identities: [`cert:${'0a'.repeat(32)}`],
      lifeMs: 3_600_000,
    })
  })

  const refused: { text: string; message: RegExp }[] = [
    { text: '[', message: /not JSON/ },
    { text: '[]', message: /not a JSON object/ },
    { text: 'null', message: /not a JSON object/ },
    { text: '{"namespace":["a"]}', message: /"namespace" is not one of name, clusters/ },
    { text: '{"name":1}', message: /"name" is not a string/ },
    { text: `{"name":"${'x'.repeat(101)}"}`, message: /"name" is not a string of at most 100/ },
    { text: '{"name":"a\\nb"}', message: /"name" is not a string/ },
    { text: '{"clusters":"prod"}', message: /"clusters" is not a list/ },
    { text: '{"clusters":[]}', message: /"clusters" is not a list of 1 to 100/ },
    { text: '{"namespaces":[1]}', message: /"namespaces" is not a list/ },
    { text: '{"namespaces":["a b"]}', message: /"namespaces" has "a b"/ },
    { text: `{"namespaces":["${'x'.repeat(513)}"]}`, message: /which is not a pattern/ },
    { text: '{"namespaces":["a=b&"]}', message: /"namespaces" has "a=b&", in which a part/ },
    { text: '{"namespaces":["team-*","Shop"]}', message: /has "Shop", which no namespace is/ },
    { text: '{"namespaces":["a=b&shop_"]}', message: /has "a=b&shop_", which no namespace is/ },
    { text: '{"namespaces":["=b"]}', message: /"namespaces" has "=b", in which a part/ },
    { text: '{"origins":["a..b"]}', message: /"origins" has "a..b", which is not a domain name/ },
    { text: '{"recurse":"yes"}', message: /"recurse" is neither/ },
    {
      text: '{"identities":["access:Alice@a.test"]}',
      message: /"identities" has "access:Alice@a\.test", expected cert:/,
    },
    { text: '{"identities":["cert:ab"]}', message: /"identities" has "cert:ab", expected cert:/ },
    { text: '{"expiresInSeconds":0}', message: /"expiresInSeconds" is not a whole number/ },
    { text: '{"expiresInSeconds":"1h"}', message: /"expiresInSeconds" is not a whole number/ },
    ...['1e99', '1e-9', '0.5', '1.5', '-1', '-0', '1e308', 'null', '[60]', '316224001'].map(
      (life) => ({
        text: `{"expiresInSeconds":${life}}`,
        message: /^"expiresInSeconds" is not a whole number from 1 to 316224000$/,
      }),
    ),
  ]
  for (const { text, message } of refused) {
    test(`is refused: ${text.slice(0, 40)}`, () => {
      assert.throws(
        () => readTokenRequest(text),
        (error) => {
          assert.ok(error instanceof HttpError)
          assert.equal(error.status, 400)
          assert.match(error.message, message)
          return true
        },
      )
    })
  }
})

const COREFILE = `prod.example.org {
  kubernetes prod.example.org in-addr.arpa {
    cluster prod
  }
}
. {
  kubernetes cluster.local {
    cluster prod
  }
  forward . 192.0.2.1
}
`

describe('createTokenAdvice', () => {
  const cases: { readonly name: string; readonly body: object; readonly warnings: RegExp[] }[] = [
    { name: 'nothing', body: {}, warnings: [] },
    {
      name: 'what is served, and names above and below it',
      body: {
        clusters: ['prod', 'p*'],
        origins: ['prod.example.org', 'example.org', 'shop.svc.cluster.local', '*.example.org.'],
      },
      warnings: [],
    },
    { name: 'an unknown cluster', body: { clusters: ['lab'] }, warnings: [/no cluster "lab"/] },
    {
      name: 'a pattern that fits no cluster',
      body: { clusters: ['lab-*'] },
      warnings: [/no cluster "lab-\*"/],
    },
    {
      name: 'an origin that is not served',
      body: { origins: ['prod.example.com'] },
      warnings: [/no zone at, above or below "prod\.example\.com\."/],
    },
    {
      name: 'an origin elsewhere for a token that may recurse',
      body: { origins: ['example.com'], recurse: true },
      warnings: [],
    },
    {
      name: 'a login without Cloudflare Access',
      body: { identities: ['access:@example.com', `cert:${'0'.repeat(64)}`] },
      warnings: [/"access:@example\.com" needs ACCESS_TEAM/],
    },
  ]
  for (const { name, body, warnings } of cases) {
    test(`warns of ${warnings.length} things: ${name}`, async () => {
      const { publicKeyText: publicKey } = await keys()
      const CLUSTERS = JSON.stringify({ prod: { publicKey, tokenSha256: '0'.repeat(64) } })
      const advise = createTokenAdvice(await readGatewayConfig({ COREFILE, CLUSTERS }))
      const found = advise(readTokenRequest(JSON.stringify(body)))
      assert.equal(found.length, warnings.length, found.join('; '))
      for (const [i, pattern] of warnings.entries()) assert.match(found[i] ?? '', pattern)
    })
  }
})
