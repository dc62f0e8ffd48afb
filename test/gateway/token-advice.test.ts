import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { readGatewayConfig } from '../../src/gateway/config.ts'
import { createTokenAdvice } from '../../src/gateway/token-advice.ts'
import { readTokenRequest } from '../../src/gateway/token-request.ts'
import { keys } from '../exporter/memory-gateway.ts'

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
