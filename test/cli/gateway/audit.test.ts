import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { startGateway } from '../../../build/local-gateway.ts'
import { hashToken } from '../../../src/gateway/access/token.ts'
import { ADMIN, startOperatedGateway } from '../operated-gateway.ts'
import { failed, runCli } from '../run-cli.ts'

const COREFILE = '. {\n}\n'

describe('kubedoh audit', () => {
  test('prints what the Durable Object of a Worker has', async (t) => {
    const variables = { COREFILE, ADMIN_TOKEN_SHA256: await hashToken(ADMIN) }
    const gateway = await startGateway({ variables })
    t.onTestFinished(() => gateway.stop())
    const run = (...words: readonly string[]): ReturnType<typeof runCli> =>
      runCli([...words, '--gateway', gateway.url], { KUBEDOH_ADMIN_TOKEN: ADMIN })
    const made = await run('token', 'create', 'ci')
    const [, id = ''] = /^kdt_([0-9a-f]{12})_/.exec(made.stdout) ?? []
    assert.equal((await run('token', 'revoke', made.stdout.trim())).status, 0)
    // A line is written behind its response.
    let { stdout } = await run('audit')
    while (!stdout.includes('DELETE')) stdout = (await run('audit', '--since', '1h')).stdout
    const [head = '', created = '', revoked = ''] = stdout.split('\n')
    assert.match(head, /^TIME +OPERATOR +ADDRESS +METHOD +PATH +STATUS +ABOUT$/)
    const by = '20\\d\\d-\\S+Z +admin +127\\.0\\.0\\.1'
    assert.match(created, new RegExp(`^${by} +POST +/v1/tokens +201 +token=${id} name=ci$`))
    assert.match(revoked, new RegExp(`^${by} +DELETE +/v1/tokens/${id} +204$`))
    const { lines } = JSON.parse((await run('audit', '--json')).stdout)
    assert.partialDeepStrictEqual(lines[1], { number: 2, operator: 'admin', status: 204 })
  })

  test('reports a gateway that has no such record, and a wrong time', async (t) => {
    const url = `http://127.0.0.1:${await startOperatedGateway(t, { COREFILE })}`
    const run = (...words: readonly string[]): ReturnType<typeof runCli> =>
      runCli(['audit', ...words, '--gateway', url], { KUBEDOH_ADMIN_TOKEN: ADMIN })
    const none = `kubedoh: ${url}: This gateway has its audit lines in its log only`
    assert.deepEqual(await run(), failed(none))
    for (const time of ['soon', '999999999d']) {
      const line = `kubedoh: --since is "${time}", expected a duration like 12h or 90d`
      assert.deepEqual(await run('--since', time), failed(line))
    }
  })
})
