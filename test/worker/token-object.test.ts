import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { assert, describe, test } from 'vitest'
import type { TokenRecord } from '../../src/gateway/access/token.ts'
import { parseTokenUpdate, type TokenUpdate } from '../../src/gateway/access/token-store.ts'
import { directoryIn } from '../../worker/directory-stub.ts'
import { followObject } from '../../worker/follow-object.ts'
import { restoreObject } from '../../worker/restore-tokens.ts'
import { DIRECTORY_PROMISES } from '../gateway/directory-contract.ts'
import { TOKEN_STORE_PROMISES } from '../gateway/token-store-contract.ts'
import { WHOLE_SCOPE } from '../gateway/whole-scope.ts'

describe('the tokens in a Durable Object', () => {
  for (const { name, hold } of TOKEN_STORE_PROMISES) {
    test(name, async () => {
      const object = env.TOKENS.getByName(name)
      await hold({
        list: async () => object.list(),
        add: async (record) => object.add(record),
        addAll: async (records) => object.addAll(records),
        replace: async (before, next) => object.replace(before, next),
        remove: async (id) => object.remove(id),
        replaceObjects: async (cluster, wanted) => object.replaceObjects(cluster, wanted),
        noteUse: async (days) => object.noteUse(days),
      })
    })
  }

  test('reach an isolate as what changed since its version', async () => {
    const object = env.TOKENS.getByName('followed')
    for (const id of ['a', 'b', 'c']) await object.add(record(id))
    const known = await newest('followed', '')
    assert.deepEqual([known.isWhole, known.records.length], [true, 3])
    await object.remove('a')
    await object.replace(record('b'), { ...record('b'), name: 'renamed' })
    const { isWhole, records, removed } = await newest('followed', known.version)
    assert.deepEqual(
      { isWhole, records, removed },
      { isWhole: false, records: [{ ...record('b'), name: 'renamed' }], removed: ['a'] },
    )
  })

  test('stay as they are where the platform has no point-in-time recovery, as workerd', async () => {
    const object = () => env.TOKENS.getByName('unrecoverable')
    await object().add(record('a'))
    const restoration = await restoreObject(object, Date.now() - 60_000)
    assert.equal(restoration.kind, 'unsupported')
    assert.match(JSON.stringify(restoration), /does not implement point-in-time recovery/)
    assert.deepEqual(await object().list(), [record('a')])
  })

  test('are restored when the object starts again, and its followers get the whole list', async () => {
    const object = () => env.TOKENS.getByName('recoverable')
    await object().add(record('a'))
    const early = await newest('recoverable', '')
    const atMs = Date.now()
    await object().remove('a')
    await object().add(record('b'))
    const late = await newest('recoverable', '')
    const calls: string[] = []
    // Stands in for the recovery of the platform, which workerd lacks: the same calls and effects.
    await runInDurableObject(object(), (_, { storage }) => {
      Object.defineProperties(storage, {
        getBookmarkForTime: {
          value: async (time: number) => {
            calls.push(`bookmark ${time === atMs}`)
            return 'a-bookmark'
          },
        },
        onNextSessionRestoreBookmark: {
          value: async (bookmark: string) => {
            calls.push(`restore ${bookmark}`)
            storage.sql.exec('DELETE FROM tokens')
            storage.sql.exec('INSERT INTO tokens VALUES (?, ?)', 'a', JSON.stringify(record('a')))
            storage.sql.exec('DELETE FROM changes WHERE version > ?', early.version)
            await storage.sync()
            return 'before'
          },
        },
      })
    })
    assert.deepEqual(await restoreObject(object, atMs), { kind: 'restored', atMs })
    assert.deepEqual(calls, ['bookmark true', 'restore a-bookmark'])
    assert.deepEqual(await object().list(), [record('a')])
    for (const known of ['', early.version, late.version]) {
      const { version, isWhole, records } = await newest('recoverable', known)
      assert.deepEqual([isWhole, records], [true, [record('a')]])
      assert.isAbove(Number(version), Number(late.version))
    }
  })
})

function record(id: string): TokenRecord {
  const secrets = [{ sha256: 'a'.repeat(64), expiresMs: undefined }]
  return {
    id,
    name: '',
    scope: WHOLE_SCOPE,
    identities: [],
    secrets,
    createdMs: 1,
    expiresMs: undefined,
  }
}

/** Returns what an isolate that follows from a version gets. */
async function newest(name: string, version: string): Promise<TokenUpdate> {
  let update: TokenUpdate | undefined
  await followObject(env.TOKENS.getByName(name), { subject: '', version }, 0, {
    after: (delayMs, action) => {
      const timer = setTimeout(action, delayMs)
      return () => clearTimeout(timer)
    },
    onMessage: (message) => {
      update = parseTokenUpdate(String(message))
      return true
    },
  })
  return update ?? assert.fail('no update')
}

describe('the directory in the same object', () => {
  for (const { name, hold } of DIRECTORY_PROMISES) {
    test(name, () => hold(directoryIn(() => env.TOKENS.getByName(`directory ${name}`))))
  }
})
