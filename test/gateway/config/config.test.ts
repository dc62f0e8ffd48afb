import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'vitest'
import {
  GATEWAY_VARIABLES,
  GatewayConfigError,
  type GatewayVariables,
  readGatewayConfig,
} from '../../../src/gateway/config/config.ts'
import { generateKeyPair } from '../../../src/snapshot/format/signature.ts'

const { publicKey } = await generateKeyPair()
const SHA256 = '0123456789abcdef'.repeat(4)
const COREFILE = '. {\n  kubernetes prod.k8s.example.org {\n    cluster prod\n  }\n}\n'

function clusters(value: unknown): Partial<GatewayVariables> {
  return { CLUSTERS: JSON.stringify(value) }
}

describe('readGatewayConfig', () => {
  test('is closed by default, stale after a minute and expired after a day', async () => {
    const { access, times, clusters: known, blocks } = await readGatewayConfig({ COREFILE })
    assert.deepEqual(access, { isPublic: false, sha256: undefined })
    assert.deepEqual(times, { refreshMs: 250, staleMs: 60_000, expireMs: 86_400_000 })
    assert.equal(known.size, 0)
    assert.deepEqual(
      blocks.map(({ directives }) => directives.map(({ name }) => name)),
      [['kubernetes']],
    )
  })

  test('reads clusters, access and times', async () => {
    const config = await readGatewayConfig({
      COREFILE,
      ...clusters({ prod: { publicKey, tokenSha256: SHA256 } }),
      CLIENT_TOKEN_SHA256: SHA256,
      PUBLIC: 'false',
      STALE_SECONDS: '1.5',
      EXPIRE_SECONDS: '10',
    })
    const prod = config.clusters.get('prod')
    assert.deepEqual(prod?.tokenSha256s, [SHA256])
    assert.deepEqual(prod?.publicKeyTexts, [publicKey])
    assert.deepEqual(config.access, { isPublic: false, sha256: SHA256 })
    assert.deepEqual([config.times.staleMs, config.times.expireMs], [1500, 10_000])
  })

  test('reads several keys and tokens of a cluster and of operators, each once', async () => {
    const other = (await generateKeyPair()).publicKey
    const config = await readGatewayConfig({
      COREFILE,
      ...clusters({
        prod: {
          publicKey,
          publicKeys: [other, publicKey],
          tokenSha256: SHA256,
          tokenSha256s: ['b'.repeat(64)],
        },
        lab: { publicKeys: [other], tokenSha256s: [SHA256] },
      }),
      ADMIN_TOKEN_SHA256: ` ${SHA256}  ${'c'.repeat(64)} `,
    })
    const [prod, lab] = ['prod', 'lab'].map((id) => config.clusters.get(id))
    assert.deepEqual(prod?.publicKeyTexts, [publicKey, other])
    assert.deepEqual(prod?.tokenSha256s, [SHA256, 'b'.repeat(64)])
    assert.deepEqual(lab?.publicKeyTexts, [other])
    assert.deepEqual(config.adminSha256s, [SHA256, 'c'.repeat(64)])
    assert.deepEqual(config.readOnlySha256s, [])
    assert.deepEqual(config.replicaSha256s, [])
  })

  test('answers every client if it is public, with or without a token', async () => {
    const { access } = await readGatewayConfig({
      COREFILE,
      PUBLIC: 'true',
      CLIENT_TOKEN_SHA256: SHA256,
    })
    assert.equal(access.isPublic, true)
  })
})

describe('readGatewayConfig refuses', () => {
  const one = { publicKey, tokenSha256: SHA256 }
  const cases: { variables: Partial<GatewayVariables>; message: string }[] = [
    { variables: { COREFILE: ' \n' }, message: 'COREFILE is not set' },
    { variables: { COREFILE: '# . {\n# }\n' }, message: 'COREFILE:1:1: no server block' },
    { variables: { COREFILE: '. {\n' }, message: 'COREFILE:1:3: ' },
    { variables: { COREFILE: 'import other\n' }, message: 'COREFILE:1:8: ' },
    { variables: { CLUSTERS: '{' }, message: 'CLUSTERS is not JSON' },
    { variables: { CLUSTERS: '[]' }, message: 'CLUSTERS is not a JSON object' },
    { variables: { CLUSTERS: 'null' }, message: 'CLUSTERS is not a JSON object' },
    {
      variables: clusters({ 'Prod.1': one }),
      message: 'CLUSTERS: "Prod.1" is not made of a-z, 0-9 and "-"',
    },
    {
      variables: clusters({ prod: { ...one, publicKey: 'x' } }),
      message: 'CLUSTERS.prod.publicKey is not 32 bytes in base64url',
    },
    {
      variables: clusters({ prod: 7 }),
      message: 'CLUSTERS.prod.publicKey is not 32 bytes in base64url',
    },
    {
      variables: clusters({ prod: { ...one, tokenSha256: SHA256.toUpperCase() } }),
      message: 'CLUSTERS.prod.tokenSha256 is not 64 hexadecimal digits',
    },
    {
      variables: clusters({ prod: { ...one, publicKeys: publicKey } }),
      message: 'CLUSTERS.prod.publicKeys is not a list',
    },
    {
      variables: clusters({ prod: { ...one, publicKeys: [publicKey, 'x'] } }),
      message: 'CLUSTERS.prod.publicKeys[1] is not 32 bytes in base64url',
    },
    {
      variables: clusters({ prod: { publicKeys: [], tokenSha256: SHA256 } }),
      message: 'CLUSTERS.prod.publicKey is not 32 bytes in base64url',
    },
    {
      variables: clusters({ prod: { publicKey, tokenSha256s: [SHA256, 7] } }),
      message: 'CLUSTERS.prod.tokenSha256s[1] is not 64 hexadecimal digits',
    },
    {
      variables: clusters({
        prod: { publicKey, tokenSha256s: [...'01234'].map((a) => a.repeat(64)) },
      }),
      message: 'CLUSTERS.prod.tokenSha256s has over 4 values',
    },
    {
      variables: { ADMIN_TOKEN_SHA256: `${SHA256} secret` },
      message: 'ADMIN_TOKEN_SHA256 is not 64 hexadecimal digits',
    },
    {
      variables: { READ_ONLY_TOKEN_SHA256: Array.from({ length: 5 }, () => SHA256).join(' ') },
      message: 'READ_ONLY_TOKEN_SHA256 has over 4 values',
    },
    {
      variables: { REPLICA_TOKEN_SHA256: 'secret' },
      message: 'REPLICA_TOKEN_SHA256 is not 64 hexadecimal digits',
    },
    {
      variables: { ACCESS_TEAM: 'acme.cloudflareaccess.com', ACCESS_AUDIENCE: SHA256 },
      message: 'ACCESS_TEAM is "acme.cloudflareaccess.com", expected a URL such as https://acme',
    },
    {
      variables: { ACCESS_TEAM: 'https://acme.cloudflareaccess.com', ACCESS_AUDIENCE: 'mine' },
      message: 'ACCESS_AUDIENCE is not 64 hexadecimal digits',
    },
    { variables: { PUBLIC: 'yes' }, message: 'PUBLIC is neither "true" nor "false"' },
    {
      variables: { PUBLIC_RECURSE: '1' },
      message: 'PUBLIC_RECURSE is neither "true" nor "false"',
    },
    {
      variables: { CLIENT_TOKEN_SHA256: 'secret' },
      message: 'CLIENT_TOKEN_SHA256 is not 64 hexadecimal digits',
    },
    {
      variables: { STALE_SECONDS: 'soon' },
      message: 'STALE_SECONDS is "soon", expected a number of seconds',
    },
    { variables: { EXPIRE_SECONDS: '0' }, message: 'EXPIRE_SECONDS is "0", expected a number' },
    { variables: { EXPIRE_SECONDS: '-1' }, message: 'EXPIRE_SECONDS is "-1", expected a number' },
  ]
  for (const { variables, message } of cases) {
    test(JSON.stringify(variables), async () => {
      await assert.rejects(readGatewayConfig({ COREFILE, ...variables }), (error) => {
        assert.ok(error instanceof GatewayConfigError)
        assert.equal(error.message.slice(0, message.length), message)
        assert.doesNotMatch(error.message, /secret/)
        return true
      })
    })
  }
})

test('the variables in wrangler.toml are those that are read, and are good', async () => {
  const text = readFileSync(join(import.meta.dirname, '../../../wrangler.toml'), 'utf8')
  const [, vars = ''] = /^\[vars\]\n([\s\S]*?)^\[\[/m.exec(text) ?? []
  const found: Record<string, string> = {}
  for (const [, name = '', long, short] of vars.matchAll(
    /^(\w+) = (?:"""\n([\s\S]*?)"""|"(.*)")$/gm,
  )) {
    found[name] = long ?? short ?? ''
  }
  const others: readonly string[] = ['EXCHANGE_KEY', 'PROXY_PROTOCOL']
  // A Worker alone reads the last four; one is a secret, and one needs sockets.
  assert.deepEqual(Object.keys(found), [
    'COREFILE',
    ...GATEWAY_VARIABLES.filter((name) => !others.includes(name)),
    'HTTP3',
    'CLUSTER_LOCATION',
    'JURISDICTION',
    'SERVICE_SCOPE',
  ])
  const { access, times } = await readGatewayConfig(found)
  assert.deepEqual(access, { isPublic: false, sha256: undefined })
  const { times: defaults } = await readGatewayConfig({ COREFILE })
  assert.deepEqual(times, defaults)
})
