/** Tokens, revocations and clusters that move from gateway to gateway, as commands move them. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'vitest'
import { startGateway } from '../../../build/local-gateway.ts'
import { createGatewayClient } from '../../../src/exporter/gateway-client.ts'
import { hashToken } from '../../../src/gateway/access/token.ts'
import { createNodeStore } from '../../../src/server/gateway/node-gateway.ts'
import { temporaryFolder } from '../../cluster/follow/temporary-folder.ts'
import { exporterSide } from '../../gateway/directory-fleet.ts'
import { snapshotOf, WEB } from '../../gateway/publishing.ts'
import { tokenRecord } from '../../gateway/tokens.ts'
import { ADMIN, startOperatedGateway } from '../operated-gateway.ts'
import { type Ran, runCli } from '../run-cli.ts'

const COREFILE = `. {
  kubernetes *.k8s.test {
    cluster *
  }
}
`
const NAME = 'web.shop.svc.lab.k8s.test'
const lab = await exporterSide('the-token-of-lab')
const prod = await exporterSide('the-token-of-prod')
const VARIABLES = {
  COREFILE,
  CLUSTERS: JSON.stringify({ prod: prod.publicHalf }),
  ADMIN_TOKEN_SHA256: await hashToken(ADMIN),
}

type Start = (t: TestContext) => Promise<string>

const KINDS: Readonly<Record<string, Start>> = {
  'a folder': async (t) => nodeIn(t, temporaryFolder(t)),
  memory: async (t) => `http://127.0.0.1:${await startOperatedGateway(t, VARIABLES)}`,
  'a Worker': async (t) => {
    const gateway = await startGateway({ variables: VARIABLES })
    t.onTestFinished(() => gateway.stop())
    return gateway.url
  },
}

async function nodeIn(t: TestContext, folder: string, lines: string[] = []): Promise<string> {
  const store = createNodeStore(folder, () => undefined)
  const log = (line: object): void => void lines.push(JSON.stringify(line))
  return `http://127.0.0.1:${await startOperatedGateway(t, VARIABLES, { store, log })}`
}

function run(url: string, ...words: readonly string[]): Promise<Ran> {
  return runCli([...words, '--gateway', url], { KUBEDOH_ADMIN_TOKEN: ADMIN })
}

async function create(url: string, ...words: readonly string[]): Promise<string> {
  const { stdout, stderr } = await run(url, 'token', 'create', ...words)
  assert.notEqual(stdout, '', stderr)
  return stdout.trim()
}

/** Resolves with the response code, or the HTTP status of a refusal. */
async function ask(url: string, token: string, name = NAME): Promise<number> {
  const headers = { authorization: `Bearer ${token}` }
  const response = await fetch(`${url}/resolve?name=${name}`, { headers })
  const { Status } = Object(await response.json())
  return response.ok ? Number(Status) : response.status
}

async function publish(url: string, cluster: string, side: typeof lab): Promise<void> {
  const client = createGatewayClient({ url, cluster, token: side.token })
  const fields = { cluster, generation: 7, time: new Date().toISOString() }
  const { signed, shards } = await snapshotOf(side.privateKey, [WEB], fields)
  const publication = { manifest: signed.bytes, shards: [...shards.values()] }
  await client.putPublication(publication, signed.signature, undefined)
}

function idOf(token: string): string {
  return token.split('_')[1] ?? ''
}

function save(t: TestContext, text: string): string {
  const file = join(temporaryFolder(t), 'gateway.jsonl')
  writeFileSync(file, text)
  return file
}

describe('kubedoh backup and restore', () => {
  test('write nothing that no gateway would take back', async (t) => {
    const store = createNodeStore(undefined, () => undefined)
    const namespaces = Array.from({ length: 100 }, (_, i) => 'x'.repeat(500) + i)
    const { record } = await tokenRecord()
    for (let i = 0; i < 340; i++) {
      const id = i.toString(16).padStart(12, '0')
      await store.tokenStore.add({ ...record, id, scope: { ...record.scope, namespaces } })
    }
    const url = `http://127.0.0.1:${await startOperatedGateway(t, VARIABLES, { store })}`
    const file = save(t, 'the backup before')
    for (const words of [['backup', file], ['backup'], ['token', 'export']]) {
      const { status, stdout, stderr } = await run(url, ...words)
      assert.deepEqual([status, stdout], [1, ''])
      assert.match(stderr, /^kubedoh: the tokens and clusters have over 16 MiB, which no [^\n]+\n$/)
    }
    assert.equal(readFileSync(file, 'utf8'), 'the backup before')
  })

  for (const [from, to] of [
    ['a folder', 'a Worker'],
    ['a Worker', 'a folder'],
    ['a folder', 'memory'],
  ] as const) {
    test(`have ${to} admit and publish as ${from} did`, { timeout: 60_000 }, async (t) => {
      const [old, fresh] = await Promise.all([KINDS[from]?.(t), KINDS[to]?.(t)])
      assert.ok(old !== undefined && fresh !== undefined)
      const add = { method: 'PUT', headers: { authorization: `Bearer ${ADMIN}` } }
      const body = JSON.stringify(lab.publicHalf)
      assert.equal((await fetch(`${old}/v1/clusters/lab`, { ...add, body })).status, 201)
      await Promise.all([publish(old, 'lab', lab), publish(old, 'prod', prod)])
      const whole = await create(old, 'whole')
      const narrow = await create(old, 'narrow', '--namespaces', 'other', '--expires', '90d')
      await create(old, 'viewer', '--allow', 'viewer,explain')
      await run(old, 'token', 'revoke', 'https://sso.test', 'ann')
      assert.equal((await run(old, 'rollback', 'prod', '7')).status, 0)
      const backup = await run(old, 'backup')
      assert.equal(backup.status, 0, backup.stderr)
      for (const secret of [whole, narrow, lab.token, prod.token, ADMIN]) {
        assert.ok(!backup.stdout.includes(secret))
      }

      assert.equal(await ask(fresh, whole), 401)
      const file = save(t, backup.stdout)
      const restored = await run(fresh, 'restore', file)
      assert.equal(restored.status, 0, restored.stderr)
      assert.equal(restored.stdout, '4 tokens added, 0 as before\n1 clusters added, 0 as before\n')
      assert.match(restored.stderr, /clusters may publish now, also if they were removed .*: lab\n/)
      assert.match(restored.stderr, /prod was pinned to generation 7: .* is not kept\n/)
      await publish(fresh, 'lab', lab)
      assert.deepEqual([await ask(fresh, whole), await ask(fresh, narrow)], [0, 3])
      const lists = await Promise.all([old, fresh].map((url) => run(url, 'token', 'list')))
      const [was, is] = lists.map(({ stdout }) =>
        stdout.replaceAll(/\S+$/gm, '').split('\n').sort(),
      )
      assert.deepEqual(is, was)

      const again = await run(fresh, 'restore', file)
      assert.equal(again.stdout, '0 tokens added, 4 as before\n0 clusters added, 1 as before\n')
      // What changed since is not changed back, and the rest is not added either.
      await run(fresh, 'token', 'revoke', idOf(whole))
      await run(fresh, 'token', 'rotate', idOf(narrow))
      const refused = await run(fresh, 'restore', file)
      const why = `Nothing was added, because of token ${idOf(narrow)} (the gateway has it otherwise)`
      assert.deepEqual([refused.status, refused.stdout], [1, ''])
      assert.equal(refused.stderr, `kubedoh: ${fresh}: ${why}\n`)
      assert.equal(await ask(fresh, whole), 401)
    })
  }

  test('are in the audit log, and end with what variables had', async (t) => {
    const lines: string[] = []
    const old = await nodeIn(t, temporaryFolder(t), lines)
    const token = await create(old)
    const file = save(t, 'an older backup')
    assert.equal((await run(old, 'backup', file)).status, 0)
    assert.equal(statSync(file).mode & 0o777, 0o600)
    const port = await startOperatedGateway(t, { COREFILE })
    const restored = await run(`http://127.0.0.1:${port}`, 'restore', file)
    assert.equal(restored.status, 0)
    assert.match(
      restored.stderr,
      new RegExp(`these tokens are valid now, also .*: ${idOf(token)}\n`),
    )
    assert.match(restored.stderr, /the gateway lacks clusters that CLUSTERS had: prod\n$/)
    const audit = lines.map((line) => JSON.parse(line)).find(({ path }) => path === '/v1/backup')
    const about = { audit: true, operator: 'admin', method: 'GET', tokens: 1, clusters: 0 }
    assert.partialDeepStrictEqual(audit, about)
  })
})

describe('kubedoh token export and import', () => {
  test('move tokens, and leave clusters', async (t) => {
    const [old, fresh] = await Promise.all([nodeIn(t, temporaryFolder(t)), KINDS.memory?.(t)])
    assert.ok(fresh !== undefined)
    const token = await create(old, 'ci', '--allow', 'viewer')
    const exported = await run(old, 'token', 'export')
    const file = save(t, exported.stdout)
    assert.equal(
      (await run(fresh, 'token', 'import', file)).stdout,
      '1 tokens added, 0 as before\n',
    )
    const headers = { authorization: `Bearer ${token}` }
    assert.equal((await fetch(`${fresh}/v1/status`, { headers })).status, 200)
    const whole = await run(fresh, 'token', 'import', save(t, (await run(old, 'backup')).stdout))
    assert.match(whole.stderr, /has more than tokens; pass it to "kubedoh restore"\n$/)
  })

  test('name each token that is valid again, and no revocation', async (t) => {
    const [old, fresh] = await Promise.all([nodeIn(t, temporaryFolder(t)), KINDS.memory?.(t)])
    assert.ok(fresh !== undefined)
    const ids: string[] = []
    for (let i = 0; i < 12; i++) ids.push(idOf(await create(old, `t${i}`)))
    await run(old, 'token', 'revoke', 'https://sso.test', 'ann')
    const file = save(t, (await run(old, 'token', 'export')).stdout)
    const { stdout, stderr } = await run(fresh, 'token', 'import', file)
    assert.equal(stdout, '13 tokens added, 0 as before\n')
    const [, named = ''] =
      /^warning: these tokens are valid now, .*Z: ([^\n]*)\n$/.exec(stderr) ?? []
    assert.deepEqual(named.split(' ').sort(), ids.sort())
  })

  test('refuse a damaged line with its place, before anything is sent', async (t) => {
    const folder = temporaryFolder(t)
    const url = await nodeIn(t, folder)
    await create(url, 'one')
    await create(url, 'two')
    const { stdout } = await run(url, 'token', 'export')
    const file = save(t, stdout.replace('"two"', '"too"'))
    const before = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'))
    const at = stdout.split('\n').findIndex((line) => line.includes('"two"')) + 1
    const refused = await run(url, 'token', 'import', file)
    assert.deepEqual([refused.status, refused.stdout], [1, ''])
    assert.match(refused.stderr, new RegExp(`${file}:${at}: the line is damaged: [^\n]*\n$`))
    for (const [text, code] of [
      [readFileSync(file, 'utf8'), 'bad_backup'],
      ['', 'bad_backup'],
    ] as const) {
      const headers = { authorization: `Bearer ${ADMIN}` }
      const request = { method: 'POST', headers, body: text }
      const response = await fetch(`${url}/v1/backup`, request)
      const { error } = Object(await response.json())
      assert.deepEqual([response.status, error.code], [400, code])
    }
    const after = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'))
    assert.deepEqual(after, before)
    const missing = await run(url, 'restore', join(folder, 'none'))
    assert.match(missing.stderr, /^kubedoh: Cannot read .*none: /)
    const unwritable = await run(url, 'backup', join(folder, 'none', 'x'))
    assert.match(unwritable.stderr, /^kubedoh: Cannot write .*x: ENOENT/)
  })
})
