import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { createClusterKeys } from '../../../src/exporter/cluster-keys.ts'
import { hashToken } from '../../../src/gateway/access/token.ts'
import { type GatewayConfig, readGatewayConfig } from '../../../src/gateway/config/config.ts'
import {
  importPrivateKey,
  importPublicKey,
  isSignedBy,
  signBytes,
} from '../../../src/snapshot/format/signature.ts'
import { failed, runCli } from '../run-cli.ts'

const BYTES = new TextEncoder().encode('a manifest')
const { publicKey, tokenSha256 } = await createClusterKeys()
const one = { publicKey, tokenSha256 }

type Printed = {
  readonly token: string
  /** Whether a public key fits the signing key that was printed. */
  readonly fits: (publicKey: string | undefined) => Promise<boolean>
  readonly lines: readonly string[]
}

async function rotate(CLUSTERS?: string): Promise<Printed> {
  const environment = CLUSTERS === undefined ? {} : { CLUSTERS }
  const { status, stdout, stderr } = await runCli(['cluster', 'rotate', 'prod'], environment)
  assert.deepEqual([status, stderr], [0, ''])
  const [, token = ''] = /^export KUBEDOH_TOKEN=([\w-]{43})$/m.exec(stdout) ?? []
  const [, text = ''] = /^export KUBEDOH_SIGNING_KEY=([\w-]+)$/m.exec(stdout) ?? []
  const signer = (await importPrivateKey(text)) ?? assert.fail('it has no signing key')
  const signature = await signBytes(signer, BYTES)
  const fits: Printed['fits'] = async (key = '') =>
    isSignedBy((await importPublicKey(key)) ?? [], BYTES, signature)
  return { token, fits, lines: stdout.split('\n') }
}

function read(CLUSTERS: string): Promise<GatewayConfig> {
  return readGatewayConfig({ COREFILE: '. {\n}\n', CLUSTERS })
}

describe('cluster rotate', () => {
  test('prints the variable with both keys, then with the new one alone', async () => {
    const { token, fits, lines } = await rotate(JSON.stringify({ lab: one, prod: one }))
    const values = lines.flatMap((line) => /^# CLUSTERS = '(.*)'$/.exec(line)?.[1] ?? [])
    const [both, end] = await Promise.all(values.map(read))
    const sha256 = await hashToken(token)
    const overlap = both?.clusters.get('prod')
    assert.deepEqual(overlap?.tokenSha256s, [sha256, tokenSha256])
    assert.equal(await fits(overlap?.publicKeyTexts[0]), true)
    assert.equal(overlap?.publicKeyTexts[1], publicKey)
    const alone = end?.clusters.get('prod')
    assert.deepEqual(alone?.tokenSha256s, [sha256])
    assert.deepEqual(alone?.publicKeyTexts, overlap?.publicKeyTexts.slice(0, 1))
    for (const config of [both, end]) {
      assert.deepEqual(config?.clusters.get('lab')?.publicKeyTexts, [publicKey])
    }
  })

  test('prints the fields where the variable is unknown', async () => {
    const { token, fits, lines } = await rotate()
    const fields = lines.flatMap((line) => /^# {4}("publicKeys".*)$/.exec(line)?.[1] ?? [])
    const added = JSON.parse(`{${fields.join('')}}`)
    const whole = lines.flatMap((line) => /^# {4}("prod":.*)$/.exec(line)?.[1] ?? [])
    const first = (await read(JSON.stringify({ prod: { ...one, ...added } }))).clusters.get('prod')
    assert.deepEqual(first?.tokenSha256s, [tokenSha256, await hashToken(token)])
    const last = (await read(`{${whole.join('')}}`)).clusters.get('prod')
    assert.equal(await fits(last?.publicKeyTexts[0]), true)
    assert.deepEqual(last?.tokenSha256s, [await hashToken(token)])
  })

  const full = [...'0123'].map((digit) => digit.repeat(64))
  const refused: { name: string; CLUSTERS: string; line: string }[] = [
    { name: 'no JSON', CLUSTERS: '{', line: 'CLUSTERS is not JSON' },
    {
      name: 'another cluster',
      CLUSTERS: JSON.stringify({ lab: one }),
      line: 'CLUSTERS has no cluster "prod"; create its keys with kubedoh keys',
    },
    {
      name: 'an invalid key',
      CLUSTERS: JSON.stringify({ prod: { ...one, publicKey: 'x' } }),
      line: 'CLUSTERS.prod.publicKey is not 32 bytes in base64url',
    },
    {
      name: 'a fifth token',
      CLUSTERS: JSON.stringify({ prod: { publicKey, tokenSha256s: full } }),
      line: 'CLUSTERS.prod has 4 keys; take an old one out first',
    },
  ]
  for (const { name, CLUSTERS, line } of refused) {
    test(`refuses ${name}`, async () => {
      const ran = await runCli(['cluster', 'rotate', 'prod'], { CLUSTERS })
      assert.deepEqual(ran, failed(`kubedoh: ${line}`))
    })
  }

  test('refuses an invalid identifier', async () => {
    const line = 'kubedoh: "Prod": use at most 63 characters of a-z, 0-9 and "-"'
    assert.deepEqual(await runCli(['cluster', 'rotate', 'Prod']), failed(line))
  })
})
