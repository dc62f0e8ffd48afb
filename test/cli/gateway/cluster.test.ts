/** Clusters that an operator adds, rotates and removes at a gateway that runs. */
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'vitest'
import { createNodeStore } from '../../../src/server/gateway/node-gateway.ts'
import { temporaryFolder } from '../../cluster/follow/temporary-folder.ts'
import { ADMIN, startOperatedGateway } from '../operated-gateway.ts'
import { type Ran, runCli } from '../run-cli.ts'
import { shopFolder } from '../shop.ts'

const COREFILE = '. {\n  kubernetes *.k8s.test {\n    cluster *\n  }\n}\n'
const PROD = { publicKey: 'A'.repeat(43), tokenSha256: '0'.repeat(64) }

type Fixture = {
  readonly run: (...words: readonly string[]) => Promise<Ran>
  /** Publishes the shop with the keys that a command has printed. */
  readonly publish: (printed: Ran) => Promise<Ran>
  readonly url: string
}

async function start(t: TestContext): Promise<Fixture> {
  const CLUSTERS = JSON.stringify({ prod: PROD })
  const port = await startOperatedGateway(t, { COREFILE, CLUSTERS })
  const url = `http://127.0.0.1:${port}`
  const objects = join(shopFolder(t, {}), 'shop.yaml')
  return {
    url,
    run: (...words) => runCli([...words, '--gateway', url], { KUBEDOH_ADMIN_TOKEN: ADMIN }),
    publish: ({ stdout }) => {
      const found = [...stdout.matchAll(/^export (\w+)=(\S+)$/gm)]
      const environment = Object.fromEntries(found.map(([, name, value]) => [name, value]))
      const args = ['--gateway', url, '--cluster', 'lab', '--objects', objects, '--once']
      return runCli(['export', ...args], environment)
    },
  }
}

describe('cluster', () => {
  test('add, rotate and remove change what an exporter may do', async (t) => {
    const { run, publish } = await start(t)
    const added = await run('cluster', 'add', 'lab')
    assert.deepEqual(
      [added.status, added.stderr],
      [0, 'the gateway answers lab.k8s.test once the exporter has published\n'],
    )
    assert.equal((await publish(added)).status, 0)
    const { stdout } = await run('cluster', 'list')
    assert.match(stdout, /^prod +CLUSTERS +1 +- +prod\.k8s\.test +-$/m)
    assert.match(stdout, /^lab +directory +1 +20\S+Z +lab\.k8s\.test +-$/m)

    const rotated = await run('cluster', 'rotate', 'lab')
    assert.match(rotated.stdout, /cluster rotate lab --end$/m)
    for (const one of [added, rotated]) assert.equal((await publish(one)).status, 0)
    const ended = await run('cluster', 'rotate', 'lab', '--end')
    assert.equal(ended.stdout, 'old keys of lab: 1 removed; the newest one stays\n')
    assert.deepEqual([(await publish(added)).status, (await publish(rotated)).status], [1, 0])

    assert.match((await run('cluster', 'remove', 'lab')).stdout, /^removed lab;/)
    assert.equal((await publish(rotated)).status, 1)
    const { clusters } = JSON.parse((await run('cluster', 'list', '--json')).stdout)
    assert.equal(clusters.length, 1)
  })

  test('add and issuers set whose tokens count', async (t) => {
    const { run } = await start(t)
    const rules = [{ when: { sub: 'a' }, namespaces: ['shop'] }]
    const list = [{ issuer: 'https://ci.example.com', audiences: ['kubedoh'], rules }]
    const wide = [{ ...list[0], rules: [{ ...rules[0], clusters: ['*'] }] }]
    const folder = temporaryFolder(t, {
      'list.json': JSON.stringify(list),
      'wide.json': JSON.stringify(wide),
      'none.json': '[]',
      'broken.json': '[{',
    })
    const file = (name: string): string => join(folder, name)
    const added = await run('cluster', 'add', 'lab', '--issuers', file('list.json'))
    assert.equal(added.status, 0)
    assert.match((await run('cluster', 'list')).stdout, /test +https:\/\/ci\.example\.com$/m)
    const { clusters } = JSON.parse((await run('cluster', 'list', '--json')).stdout)
    assert.deepEqual(clusters[1].issuers, list)
    const removed = await run('cluster', 'issuers', 'lab', file('none.json'))
    assert.equal(removed.stdout, 'issuers of lab: none\n')
    const again = await run('cluster', 'issuers', 'lab', file('list.json'))
    assert.equal(again.stdout, 'issuers of lab: https://ci.example.com\n')
    for (const [name, line] of [
      ['wide.json', /issuers\[0\]\.rules\[0\]\.clusters is not \["lab"\]/],
      ['broken.json', /broken\.json is not JSON: /],
      ['missing.json', /Cannot read .*missing\.json/],
    ] as const) {
      const { status, stderr } = await run('cluster', 'issuers', 'lab', file(name))
      assert.equal(status, 1)
      assert.match(stderr, line)
      assert.equal(stderr.trimEnd().split('\n').length, 1)
    }
  })

  test('rotate prints the variable for a cluster of CLUSTERS, also with a gateway', async (t) => {
    const { url } = await start(t)
    const environment = { KUBEDOH_ADMIN_TOKEN: ADMIN, KUBEDOH_GATEWAY: url }
    const { status, stdout } = await runCli(['cluster', 'rotate', 'prod'], environment)
    assert.equal(status, 0)
    assert.match(stdout, /add to "prod" in CLUSTERS/)
  })

  for (const [words, line] of [
    [['add', 'prod'], /"prod" is in the variable CLUSTERS; change it there$/],
    [['add', 'No'], /The identifier is not 1 to 63 characters/],
    [['remove', 'none'], /The directory has no cluster with this identifier$/],
    [['rotate', 'none'], /The directory has no cluster with this identifier$/],
    [['rotate', 'prod', '--end'], /^kubedoh: the gateway's directory has no cluster "prod"$/],
  ] as const) {
    test(`${words.join(' ')} is an error of one line`, async (t) => {
      const { run } = await start(t)
      const { status, stdout, stderr } = await run('cluster', ...words)
      assert.deepEqual([status, stdout], [1, ''])
      assert.match(stderr.trimEnd(), line)
      assert.equal(stderr.trimEnd().split('\n').length, 1)
    })
  }
})

test('a gateway on Node keeps its clusters in its folder, and removes the files of one', async (t) => {
  const folder = shopFolder(t, {})
  const store = join(folder, 'store')
  const port = await startOperatedGateway(
    t,
    { COREFILE },
    {
      store: createNodeStore(store, () => undefined),
    },
  )
  const url = `http://127.0.0.1:${port}`
  const run = (...words: readonly string[]): Promise<Ran> =>
    runCli([...words, '--gateway', url], { KUBEDOH_ADMIN_TOKEN: ADMIN })
  const { stdout } = await run('cluster', 'add', 'lab')
  const keys = Object.fromEntries(
    [...stdout.matchAll(/^export (\w+)=(\S+)$/gm)].map(([, name, value]) => [name, value]),
  )
  const args = [
    '--gateway',
    url,
    '--cluster',
    'lab',
    '--objects',
    join(folder, 'shop.yaml'),
    '--once',
  ]
  assert.equal((await runCli(['export', ...args], keys)).status, 0)
  assert.deepEqual(readdirSync(store).sort(), ['clusters', 'clusters.jsonl.1'])
  assert.equal((await run('cluster', 'remove', 'lab')).status, 0)
  assert.deepEqual(readdirSync(join(store, 'clusters')), [])
})
