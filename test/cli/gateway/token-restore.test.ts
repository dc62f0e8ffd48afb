import assert from 'node:assert/strict'
import { readdirSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'vitest'
import { createNodeStore } from '../../../src/server/gateway/node-gateway.ts'
import { temporaryFolder } from '../../cluster/follow/temporary-folder.ts'
import { ADMIN, startOperatedGateway } from '../operated-gateway.ts'
import { type Ran, runCli } from '../run-cli.ts'

const COREFILE = '. {\n  whoami\n}\n'
const MINUTE_MS = 60_000

describe('kubedoh token restore', () => {
  test('has revoked tokens work again, and later ones no more', async (t) => {
    const folder = temporaryFolder(t)
    const lines: string[] = []
    const port = await startOperatedGateway(
      t,
      { COREFILE },
      {
        store: createNodeStore(folder, () => undefined),
        log: (line) => void lines.push(JSON.stringify(line)),
      },
    )
    const url = `http://127.0.0.1:${port}`
    const run = (...words: readonly string[]): Promise<Ran> =>
      runCli([...words, '--gateway', url], { KUBEDOH_ADMIN_TOKEN: ADMIN })
    const create = async (): Promise<string> => (await run('token', 'create')).stdout.trim()
    const works = async (token: string): Promise<boolean> => {
      const { status } = await runCli(['query', 'a.test', '--server', url, '--token', token])
      return status === 0
    }
    const [kept, revoked] = [await create(), await create()]
    const [idOfRevoked = ''] = /[0-9a-f]{12}/.exec(revoked) ?? []
    await run('token', 'revoke', idOfRevoked)
    const late = await create()
    const [idOfLate = ''] = /[0-9a-f]{12}/.exec(late) ?? []
    assert.deepEqual(await Promise.all([kept, revoked, late].map(works)), [true, false, true])

    // As if a minute had passed before each change.
    const start = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS - 10 * MINUTE_MS
    for (const version of [1, 2, 3, 4]) {
      const path = join(folder, `tokens.jsonl.${version}`)
      const seconds = (start + version * MINUTE_MS) / 1000
      utimesSync(path, seconds, seconds)
    }
    const ofSecond = new Date(start + 2 * MINUTE_MS).toISOString()
    const restored = await run('token', 'restore', '--at', `${ofSecond.slice(0, 16)}Z`)
    assert.equal(restored.status, 0, restored.stderr)
    assert.deepEqual(restored.stdout.split('\n'), [
      `1 came back: ${idOfRevoked}`,
      `1 went: ${idOfLate}`,
      '0 changed',
      `2 tokens, those of ${ofSecond}`,
      '',
    ])
    assert.match(restored.stderr, /^warning: revoked tokens and secrets of that time are valid/)
    assert.deepEqual(await Promise.all([kept, revoked, late].map(works)), [true, true, false])
    const audit = lines.find((line) => line.includes('/v1/tokens/restore')) ?? ''
    assert.partialDeepStrictEqual(JSON.parse(audit), {
      audit: true,
      operator: 'admin',
      status: 200,
      at: ofSecond,
      returned: 1,
      removed: 1,
      changed: 0,
    })

    const files = readdirSync(folder)
    const tooOld = await run('token', 'restore', '--at', '2026-01-01T00:00Z')
    assert.deepEqual([tooOld.status, tooOld.stdout], [1, ''])
    assert.match(tooOld.stderr, /: "at" is not a time in UTC of the last 30 days, such as .*\n$/)
    const older = new Date(start).toISOString()
    const none = await run('token', 'restore', '--at', older)
    assert.equal(none.status, 1)
    assert.match(none.stderr, /: The store has no list of tokens of that time; the oldest is of /)
    assert.deepEqual(readdirSync(folder), files)
    assert.equal((await run('token', 'restore')).status, 2)
  })

  test('is refused by a gateway that keeps its tokens in memory', async (t) => {
    const port = await startOperatedGateway(t, { COREFILE })
    const at = new Date().toISOString()
    const { status, stderr } = await runCli(
      ['token', 'restore', '--at', at, '--gateway', `http://127.0.0.1:${port}`],
      { KUBEDOH_ADMIN_TOKEN: ADMIN },
    )
    assert.equal(status, 1)
    assert.match(stderr, /Tokens cannot be restored here: the store keeps no earlier ones\n$/)
  })
})
