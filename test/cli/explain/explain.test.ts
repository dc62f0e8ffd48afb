import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test, vi } from 'vitest'
import { temporaryFolder } from '../../cluster/follow/temporary-folder.ts'
import { ADMIN, startShopGateway } from '../operated-gateway.ts'
import { type Ran, runCli } from '../run-cli.ts'

const COREFILE = `. {
  errors
  kubernetes cluster.local {
    cluster shop
  }
}
`

async function start(
  t: TestContext,
  time = '2026-01-01T00:00:00.000Z',
): Promise<(words: string, token?: string) => Promise<Ran>> {
  const url = await startShopGateway(t, COREFILE, time)
  return (words, admin = ADMIN) =>
    runCli(['explain', ...words.split(' '), '--gateway', url], { KUBEDOH_ADMIN_TOKEN: admin })
}

describe('kubedoh explain', () => {
  test('prints the server block, plugins and snapshots of an answer', async (t) => {
    const run = await start(t)
    const { status, stdout, stderr } = await run('web.shop.svc.cluster.local')
    assert.equal(status, 0, stderr)
    // The snapshot is from long ago, and so there is no answer from it.
    assert.equal(
      stdout,
      `answer        SERVFAIL
why           the newest snapshot is too old to answer from
server block  .
plugins       errors → kubernetes
kubernetes    cluster.local. (cluster) of cluster shop: generation 7 from 2026-01-01T00:00:00.000Z, expired; Service shop/web has A
view          everything
`,
    )
    const json = JSON.parse((await run('nosuch.cluster.local SRV --json')).stdout)
    assert.deepEqual(json.question, { name: 'nosuch.cluster.local.', type: 'SRV' })
  })

  test('names the object that has the name', async (t) => {
    const run = await start(t, new Date().toISOString())
    const { stdout } = await run('web.shop.svc.cluster.local')
    assert.match(stdout, /^kubernetes .*, fresh; Service shop\/web has A$/m)
    const none = await run('nosuch.shop.svc.cluster.local')
    assert.match(none.stdout, /^kubernetes .*, fresh; no such name$/m)
  })

  test('escapes control characters', async (t) => {
    const run = await start(t)
    const { stdout } = await run('\\027[31m.cluster.local')
    assert.ok(!stdout.includes('\u001b'))
  })

  test('takes a complete token for its identifier, so that its secret is in no URL', async (t) => {
    const url = await startShopGateway(t, COREFILE, undefined)
    const to = ['--gateway', url]
    const environment = { KUBEDOH_ADMIN_TOKEN: ADMIN }
    const token = (await runCli(['token', 'create', ...to], environment)).stdout.trim()
    const sent = vi.spyOn(globalThis, 'fetch')
    t.onTestFinished(() => sent.mockRestore())
    const words = ['explain', 'a.cluster.local', '--as', token, ...to]
    const { status, stderr } = await runCli(words, environment)
    assert.equal(status, 0, stderr)
    // The secret may have underscores, too.
    const [, id = '', ...secret] = token.split('_')
    const [called = ''] = sent.mock.calls.map(([input]) => String(input))
    assert.ok(called.endsWith(`&as=${id}`) && !called.includes(secret.join('_')), called)
  })

  test('prints the visibility of the token', async (t) => {
    const run = await start(t)
    const refused = await run('a.cluster.local --token x')
    assert.equal(refused.status, 1)
    assert.match(refused.stderr, /A token is needed/)
  })
})

describe('kubedoh explain without a gateway', () => {
  const SHOP = ['--objects', 'demo/shop.yaml']

  test('answers from object files as the built-in Corefile does', async () => {
    const { status, stdout, stderr } = await runCli([
      'explain',
      'wbe.shop.svc.cluster.local',
      ...SHOP,
    ])
    assert.equal(status, 0, stderr)
    assert.match(stdout, /^answer {8}NXDOMAIN\n/)
    assert.match(stdout, /^why {11}namespace "shop" has no Service "wbe"$/m)
    assert.match(stdout, /^did you mean {2}web\.shop\.svc\.cluster\.local\.$/m)
  })

  test('answers by the Corefile of --conf', async (t) => {
    const folder = temporaryFolder(t, {})
    const conf = join(folder, 'Corefile')
    writeFileSync(conf, 'a.test {\n  whoami\n}\n')
    const found = await runCli(['explain', 'x.a.test', '--conf', conf, '--json'])
    assert.equal(found.status, 0, found.stderr)
    const { serverBlock, plugins } = JSON.parse(found.stdout)
    assert.deepEqual([serverBlock, plugins], ['a.test.', ['whoami']])
    writeFileSync(conf, 'a.test {\n  acl {\n    drop\n  }\n}\n')
    const dropped = await runCli(['explain', 'x.a.test', '--conf', conf])
    assert.deepEqual(dropped, {
      status: 1,
      stdout: '',
      stderr: 'kubedoh: The Corefile drops the query: no response\n',
    })
  })

  const errors: [name: string, args: readonly string[], error: RegExp][] = [
    ['no name', ['a..b', ...SHOP], /Parameter "name" is not a domain name/],
    ['no type', ['a.test', 'nosuch', ...SHOP], /Parameter "type" is neither/],
    ['no such file', ['a.test', '--objects', '/nosuch.yaml'], /\/nosuch\.yaml/],
    ['a token without a gateway', ['a.test', '--as', 'x', ...SHOP], /--as needs --gateway/],
    [
      'a gateway and a cluster',
      ['a.test', '--gateway', 'https://dns.test', ...SHOP],
      /--gateway excludes --conf, --kubeconfig and --objects/,
    ],
    ['nothing to ask', ['a.test'], /explain needs --gateway URL, or --kubeconfig or --objects/],
  ]
  for (const [name, args, error] of errors) {
    test(`refuses ${name} in one line`, async () => {
      const { status, stdout, stderr } = await runCli(['explain', ...args])
      assert.deepEqual([status, stdout], [1, ''])
      assert.match(stderr, error)
      assert.equal(stderr.trimEnd().split('\n').length, 1)
    })
  }
})
