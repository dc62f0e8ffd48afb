import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'vitest'
import { createClusterKeys } from '../../../src/exporter/cluster-keys.ts'
import { ADMIN, startOperatedGateway } from '../operated-gateway.ts'
import { type Ran, runCli } from '../run-cli.ts'
import { SHOP_YAML, shopFolder } from '../shop.ts'

const COREFILE = '. {\n  kubernetes shop.test {\n    cluster shop\n  }\n}\n'

type Fixture = {
  readonly run: (...words: readonly string[]) => Promise<Ran>
  /** Publishes the shop with another address of `web`. */
  readonly publish: (address: string) => Promise<void>
}

/** Starts a gateway to which a cluster publishes. */
async function start(t: TestContext): Promise<Fixture> {
  const { publicKey, tokenSha256, token, signingKey } = await createClusterKeys()
  const CLUSTERS = JSON.stringify({ shop: { publicKey, tokenSha256 } })
  const port = await startOperatedGateway(t, { COREFILE, CLUSTERS })
  const url = `http://127.0.0.1:${port}`
  const folder = shopFolder(t, {})
  const objects = join(folder, 'shop.yaml')
  const environment = { KUBEDOH_TOKEN: token, KUBEDOH_SIGNING_KEY: signingKey }
  return {
    run: (...words) => runCli([...words, '--gateway', url], { KUBEDOH_ADMIN_TOKEN: ADMIN }),
    publish: async (address) => {
      writeFileSync(objects, SHOP_YAML.replace('192.0.2.10', address))
      const args = ['--gateway', url, '--cluster', 'shop', '--objects', objects, '--once']
      const { status, stderr } = await runCli(['export', ...args], environment)
      assert.equal(status, 0, stderr)
    },
  }
}

describe('generations', () => {
  test('are listed, compared, rolled back and released', async (t) => {
    const { run, publish } = await start(t)
    await publish('192.0.2.10')
    await publish('192.0.2.11')
    const [head = '', newest = '', older = '', ...others] = (
      await run('generations', 'shop')
    ).stdout.split('\n')
    assert.match(head, /^GENERATION +CONFIRMED +RECORDS +BYTES$/)
    assert.match(newest, /^\d+ +20\S+Z +\d+ +\d+ +current$/)
    assert.match(older, /^\d+ +20\S+Z +\d+ +\d+$/)
    assert.deepEqual(others, [''])
    const [first = ''] = older.split(' ')
    const { stdout } = await run('diff', 'shop', first)
    assert.match(stdout, /^- web\.shop\.svc\.cluster\.local\. 30 IN A 192\.0\.2\.10$/m)
    assert.match(stdout, /^\+ web\.shop\.svc\.cluster\.local\. 30 IN A 192\.0\.2\.11$/m)
    const back = await run('rollback', 'shop', first)
    assert.match(
      back.stdout,
      new RegExp(`^the gateway answers from generation ${first} until rollback --release`),
    )
    assert.match(
      (await run('generations', 'shop')).stdout,
      new RegExp(`^${first} .*rolled back$`, 'm'),
    )
    const { served, isPinned } = JSON.parse((await run('generations', 'shop', '--json')).stdout)
    assert.deepEqual([String(served), isPinned], [first, true])
    assert.match(
      (await run('rollback', 'shop', '--release')).stdout,
      /^the gateway answers from generation \d+$/m,
    )
  })

  const refused: { name: string; words: string[]; says: RegExp }[] = [
    {
      name: 'a rollback to nowhere',
      words: ['rollback', 'shop'],
      says: /needs either a generation or --release/,
    },
    {
      name: 'a rollback to two places',
      words: ['rollback', 'shop', '1', '--release'],
      says: /needs either a generation or --release/,
    },
    {
      name: 'a generation that is not kept',
      words: ['rollback', 'shop', '7'],
      says: /Generation 7 is not kept/,
    },
    {
      name: 'a word for a generation',
      words: ['rollback', 'shop', 'old'],
      says: /A generation is a number/,
    },
    {
      name: 'another cluster',
      words: ['generations', 'depot'],
      says: /has no cluster with this identifier/,
    },
  ]
  for (const { name, words, says } of refused) {
    test(`refuse ${name}`, async (t) => {
      const { run } = await start(t)
      const ran = await run(...words)
      assert.equal(ran.status, 1)
      assert.match(ran.stderr, says)
    })
  }
})
