import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'vitest'
import { ADMIN, startOperatedGateway } from '../operated-gateway.ts'
import { failed, type Ran, runCli } from '../run-cli.ts'

/** Starts a gateway and runs commands on its tokens. */
async function start(t: TestContext): Promise<(words: string, admin?: string) => Promise<Ran>> {
  const port = await startOperatedGateway(t, { COREFILE: '. {\n}\n' })
  const url = `http://127.0.0.1:${port}`
  return async (words, admin = ADMIN) => {
    const args = ['token', ...words.split(' '), '--gateway', url]
    const { status, stdout, stderr } = await runCli(args, { KUBEDOH_ADMIN_TOKEN: admin })
    return { status, stdout, stderr: stderr.replaceAll(url, 'URL') }
  }
}

describe('kubedoh token', () => {
  test('creates, lists, rotates and revokes', async (t) => {
    const run = await start(t)
    const scope = '--clusters prod,lab --origins prod.test --namespaces shop --namespaces team-*'
    const made = await run(`create ci --allow recurse,viewer --expires 90d ${scope}`)
    assert.equal(made.status, 0)
    const [, id = ''] = /^kdt_([0-9a-f]{12})_[\w-]{43}\n$/.exec(made.stdout) ?? []
    assert.match(made.stderr, /^token [0-9a-f]{12} is valid until 20\d\d-/m)
    // The log of a CI job that keeps standard output has only the rest.
    assert.equal(made.stderr.includes(made.stdout.trim()), false)
    const listed = await run('list')
    const [head = '', row = '', ...others] = listed.stdout.trimEnd().split('\n')
    assert.match(
      head,
      /^ID +NAME +CLUSTERS +ORIGINS +NAMESPACES +RECURSE +EXPLAIN +IDENTITIES +ROLE +EXPIRES +USED$/,
    )
    assert.match(
      row,
      /^\S+ +ci +lab,prod +prod\.test\. +shop,team-\* +yes +no +- +viewer +20\d\d-\S+Z +never$/,
    )
    assert.deepEqual(others, [])
    const rotated = await run(`rotate ${id} --grace 1h`)
    assert.match(rotated.stdout, new RegExp(`^kdt_${id}_`))
    assert.notEqual(rotated.stdout, made.stdout)
    // A complete token stands for its identifier, so that its secret is in no URL.
    const revoked = await run(`revoke ${rotated.stdout.trim()}`)
    assert.equal(revoked.stdout, `revoked ${id}; running gateways refuse it within five seconds\n`)
    assert.equal((await run('list')).stdout.split('\n').length, 2)
  })

  test('revokes a client that an issuer knows, and takes that back', async (t) => {
    const run = await start(t)
    const revoked = await run('revoke https://ci.test repo:acme')
    const [, id = ''] =
      /^revoked all tokens of https:\/\/ci\.test repo:acme until now; kubedoh token revoke (\S+) takes/.exec(
        revoked.stdout,
      ) ?? []
    assert.match((await run('list')).stdout, /revoked:https:\/\/ci\.test repo:acme/)
    assert.equal((await run(`revoke ${id}`)).status, 0)
    assert.equal((await run('list')).stdout.includes('repo:acme'), false)
  })

  test('warns about unknown clusters, and lists the name', async (t) => {
    const run = await start(t)
    const identity = 'access:@example.com'
    const flags = `--clusters prod --origins prod.test --allow ${identity},explain`
    const { status, stderr } = await run(`create ${flags}`)
    assert.equal(status, 0)
    assert.deepEqual(stderr.split('\n').slice(0, 3), [
      'warning: CLUSTERS has no cluster "prod"',
      'warning: the Corefile serves no zone at, above or below "prod.test."',
      `warning: "${identity}" needs ACCESS_TEAM and ACCESS_AUDIENCE, which are not set`,
    ])
    const [, row = ''] = (await run('list')).stdout.split('\n')
    assert.match(
      row,
      /^\S+ +- +prod +prod\.test\. +\* +no +yes +access:@example\.com +- +never +never$/,
    )
    const malformed = await run('create --allow cert:AB:CD')
    assert.match(malformed.stderr, /^kubedoh: URL: "identities" has "cert:AB:CD", expected cert: /)
  })

  test('takes the flags that it had before', async (t) => {
    const run = await start(t)
    await run('create --name ci --recurse --explain --identity access:@example.com')
    const [, row = ''] = (await run('list')).stdout.split('\n')
    assert.match(row, /^\S+ +ci +\* +\* +\* +yes +yes +access:@example\.com +- +never +never$/)
  })

  test('prints JSON', async (t) => {
    const run = await start(t)
    const { token, id } = JSON.parse((await run('create --json')).stdout)
    assert.ok(String(token).startsWith(`kdt_${id}_`))
    const { tokens } = JSON.parse((await run('list --json')).stdout)
    assert.deepEqual([tokens.length, tokens[0].id, tokens[0].token], [1, id, undefined])
  })

  test('reports errors of the gateway', async (t) => {
    const run = await start(t)
    const cases: [words: string, line: string, admin?: string][] = [
      [
        'list',
        "kubedoh: URL: The operator's token is needed; the token in KUBEDOH_ADMIN_TOKEN is not this gateway's: set another one",
        'wrong',
      ],
      ['revoke 0', 'kubedoh: URL: There is no token with this identifier'],
      ['rotate 0', 'kubedoh: URL: There is no token with this identifier'],
      [
        'create --expires soon',
        'kubedoh: --expires is "soon", expected a duration like 12h or 90d',
      ],
      ['create --origins a..b', 'kubedoh: URL: "origins" has "a..b", which is not a domain name'],
      [
        'list',
        'kubedoh: KUBEDOH_ADMIN_TOKEN is not set; create a token for it with "kubedoh keys --admin"',
        '',
      ],
    ]
    for (const [words, line, admin] of cases)
      assert.deepEqual(await run(words, admin), failed(line))
  })

  test('reports an unreachable gateway', async () => {
    const args = ['token', 'list', '--gateway', 'http://127.0.0.1:9']
    const { status, stderr } = await runCli(args, { KUBEDOH_ADMIN_TOKEN: ADMIN })
    assert.equal(status, 1)
    assert.match(stderr, /^kubedoh: http:\/\/127\.0\.0\.1:9: .+\n$/)
  })
})
