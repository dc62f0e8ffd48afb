import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { readGatewayConfig } from '../../../src/gateway/config/config.ts'
import {
  importPrivateKey,
  isSignedBy,
  sha256Hex,
  signBytes,
} from '../../../src/snapshot/format/signature.ts'
import { failed, runCli } from '../run-cli.ts'

const BYTES = new TextEncoder().encode('a manifest')

describe('keys', () => {
  test('prints shell variables, and a variable of the gateway', async () => {
    const { status, stdout, stderr } = await runCli(['keys', 'prod'])
    assert.deepEqual([status, stderr], [0, ''])
    const lines = stdout.split('\n')
    const value = (pattern: RegExp): string => {
      const found = lines.flatMap((line) => pattern.exec(line)?.[1] ?? [])
      assert.equal(found.length, 1)
      return found.join('')
    }
    const token = value(/^export KUBEDOH_TOKEN=([\w-]{43})$/)
    const key = await importPrivateKey(value(/^export KUBEDOH_SIGNING_KEY=([\w-]+)$/))
    const CLUSTERS = value(/^export CLUSTERS='(.*)'$/)
    const config = await readGatewayConfig({ COREFILE: '. {\n}\n', CLUSTERS })
    const cluster = config.clusters.get('prod')
    assert.ok(key !== undefined && cluster !== undefined)
    assert.deepEqual(cluster.tokenSha256s, [await sha256Hex(new TextEncoder().encode(token))])
    const signature = await signBytes(key, BYTES)
    assert.ok(await isSignedBy(cluster.publicKey, BYTES, signature))
    assert.deepEqual(
      lines.filter((line) => !/^(#|export [A-Z_]+=([\w-]+|'.*')$)/.test(line)),
      [''],
    )
  })

  for (const [flag, before, hash] of [
    ['--admin', 'export KUBEDOH_ADMIN_TOKEN=', 'ADMIN_TOKEN_SHA256'],
    ['--read-only', '# credentials: ', 'READ_ONLY_TOKEN_SHA256'],
    ['--replica', 'export KUBEDOH_REPLICA_TOKEN=', 'REPLICA_TOKEN_SHA256'],
  ] as const) {
    test(`of an operator are a token and its hash: ${flag}`, async () => {
      const { status, stdout } = await runCli(['keys', flag])
      assert.equal(status, 0)
      const [, token = ''] = new RegExp(`^${before}(\\S+)$`, 'm').exec(stdout) ?? []
      const [, sha256] = new RegExp(`^export ${hash}="(\\S+)"$`, 'm').exec(stdout) ?? []
      assert.equal(sha256, await sha256Hex(new TextEncoder().encode(token)))
    })
  }

  for (const args of [
    [],
    ['prod', '--admin'],
    ['--admin', '--read-only'],
    ['--admin', '--replica'],
    ['prod', '--read-only'],
  ]) {
    test(`are of one kind at a time: ${args.join(' ') || 'none'}`, async () => {
      const { status, stdout, stderr } = await runCli(['keys', ...args])
      assert.deepEqual([status, stdout], [2, ''])
      assert.match(
        stderr,
        /^kubedoh: name a cluster, or give --admin, --read-only, --replica or --exchange\n/,
      )
    })
  }

  for (const id of ['Prod', 'a.b', '-a', 'a-', '', 'a'.repeat(64)]) {
    test(`are not created for cluster "${id}"`, async () => {
      const line = `kubedoh: "${id}": use at most 63 characters of a-z, 0-9 and "-"`
      assert.deepEqual(await runCli(['keys', '--', id]), failed(line))
    })
  }
})
