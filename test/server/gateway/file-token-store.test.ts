import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, test } from 'vitest'
import { formatTokenRecord, type TokenStore } from '../../../src/gateway/access/token-store.ts'
import { createFileTokenStore } from '../../../src/server/gateway/file-token-store.ts'
import { temporaryFolder } from '../../cluster/follow/temporary-folder.ts'
import { TOKEN_STORE_PROMISES } from '../../gateway/token-store-contract.ts'
import { tokenRecord } from '../../gateway/tokens.ts'

const MODULE = join(import.meta.dirname, '../../../src/server/gateway/file-token-store.ts')
/** A process that adds 30 tokens and removes every second one, one by one. */
const PROGRAM = `
  const { createFileTokenStore } = await import(process.argv[1])
  const [path, name] = process.argv.slice(2)
  const store = createFileTokenStore(path, { onBroken: (file) => { throw new Error(file) } })
  const record = { name, scope: { clusters: [], origins: [], namespaces: [], recurse: false },
    identities: [], secrets: [], createdMs: 0, expiresMs: undefined }
  for (let i = 0; i < 30; i++) {
    const { kind } = await store.add({ ...record, id: name + i })
    if (kind !== 'added') throw new Error(kind)
    if (i % 2 === 1 && !(await store.remove(name + i))) throw new Error('not removed')
  }
`

/** A store whose file has no broken line. */
function open(path: string): TokenStore {
  return createFileTokenStore(path, { onBroken: (file, line) => assert.fail(`${file} ${line}`) })
}

describe('the tokens in a file', () => {
  for (const { name, hold } of TOKEN_STORE_PROMISES) {
    test(name, (t) => hold(open(join(temporaryFolder(t), 'new', 'tokens'))))
    test(`${name}, two processes in turn`, (t) => {
      const path = join(temporaryFolder(t), 'tokens')
      return hold(byTurns(open(path), open(path)))
    })
  }

  test('keep every change of three processes that write at once', async (t) => {
    const path = join(temporaryFolder(t), 'tokens')
    const children = ['a', 'b', 'c'].map((name) =>
      spawn(process.execPath, ['--input-type=module', '-e', PROGRAM, MODULE, path, name], {
        stdio: 'inherit',
      }),
    )
    const exits = await Promise.all(children.map((child) => once(child, 'exit')))
    assert.deepEqual(exits, Array(3).fill([0, null]))
    const ids = (await open(path).list()).map(({ id }) => id)
    const wanted = ['a', 'b', 'c'].flatMap((name) =>
      Array.from({ length: 15 }, (_, i) => `${name}${2 * i}`),
    )
    assert.deepEqual(ids.sort(), wanted.sort())
  })

  test('lose none of many that are made at once, and are nobody else’s to read', async (t) => {
    const path = join(temporaryFolder(t), 'tokens')
    const store = open(path)
    const made = await Promise.all(Array.from({ length: 20 }, () => tokenRecord()))
    await Promise.all(made.map(({ record }) => store.add(record)))
    assert.equal((await open(path).list()).length, 20)
    const files = readdirSync(dirname(path))
    // Sixteen versions, and the last one before them in this hour, or these two hours.
    assert.ok(files.length === 17 || files.length === 18, String(files))
    for (const file of files) assert.equal(statSync(join(dirname(path), file)).mode & 0o777, 0o600)
  })

  test('are parsed when their line is new, also by another process', async (t) => {
    const path = join(temporaryFolder(t), 'tokens')
    const [store, other] = [open(path), open(path)]
    const [kept, used, removed] = await Promise.all([1, 2, 3].map(() => tokenRecord()))
    for (const one of [kept, used, removed]) await store.add(one?.record ?? assert.fail())
    const before = await other.list()
    assert.equal(await other.list(), before)
    await store.noteUse([[used?.record.id ?? '', 20_000]])
    await store.remove(removed?.record.id ?? '')
    const after = await other.list()
    assert.deepEqual(after, await store.list())
    assert.deepEqual(after, [kept?.record, { ...used?.record, usedDay: 20_000 }])
    assert.equal(after[0], before[0])
    assert.deepEqual(await open(path).list(), after)
  })

  test('are read from the one file that earlier builds wrote', async (t) => {
    const path = join(temporaryFolder(t), 'tokens')
    const [old, added] = [await tokenRecord(), await tokenRecord()]
    writeFileSync(path, `${formatTokenRecord(old.record)}\n`)
    const store = open(path)
    assert.deepEqual(await store.list(), [old.record])
    await store.add(added.record)
    assert.deepEqual(await store.list(), [old.record, added.record])
  })
})

/** A store each of whose calls goes to the one or the other. */
function byTurns(one: TokenStore, other: TokenStore): TokenStore {
  let calls = 0
  const next = (): TokenStore => (calls++ % 2 === 0 ? one : other)
  return {
    list: () => next().list(),
    add: (record) => next().add(record),
    addAll: (records) => next().addAll(records),
    replace: (before, after) => next().replace(before, after),
    remove: (id) => next().remove(id),
    replaceObjects: (cluster, wanted) => next().replaceObjects(cluster, wanted),
    noteUse: (days) => next().noteUse(days),
  }
}
