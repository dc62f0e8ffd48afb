import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'vitest'
import { CheckedStore } from '../../../src/gateway/snapshots/checked-store.ts'
import { LocalWriter } from '../../../src/gateway/snapshots/local-writer.ts'
import { createFileStore } from '../../../src/server/gateway/file-store.ts'
import { Files } from '../../../src/server/gateway/files.ts'
import { WriterTurn } from '../../../src/server/gateway/writer-turn.ts'
import { keys } from '../../cluster/follow/memory-gateway.ts'
import { temporaryFolder } from '../../cluster/follow/temporary-folder.ts'
import { snapshotOf, WEB } from '../../gateway/publishing.ts'
import { errno, FakeDisk } from './fake-disk.ts'

const { privateKey, publicKey } = await keys()
const START_MS = Date.UTC(2026, 0, 1)
const NEVER_MS = 1e9

/** A gateway's writer, as another process on the same folder has it. */
function writerIn(folder: string): LocalWriter {
  const warn = (message: string): void => assert.fail(message)
  const store = new CheckedStore({
    cluster: 'shop',
    publicKey,
    store: createFileStore(folder),
    warn,
  })
  return new LocalWriter({ cluster: 'shop', publicKey, store, now: () => START_MS })
}

describe('writers of one folder', () => {
  test('publish one after the other: of two with one base, one is refused', async (t) => {
    const folder = join(temporaryFolder(t), 'shop')
    const writers = [writerIn(folder), writerIn(folder), writerIn(folder)]
    const time = new Date(START_MS).toISOString()
    let etag: string | undefined
    for (let round = 1; round <= 5; round++) {
      const results = await Promise.all(
        writers.map(async (writer, i) => {
          // The same generation by some, another one by others.
          const generation = 10 * round + (i % 2)
          const lines = [WEB.replace(/\S+$/, `10.96.${round}.${i}`)]
          const { shards, signed } = await snapshotOf(privateKey, lines, { time, generation })
          for (const [sha256, bytes] of shards) await writer.putShard(sha256, bytes)
          return writer.putManifest(signed.bytes, signed.signature, etag)
        }),
      )
      const stored = results.filter((one) => one.kind === 'stored')
      const refused = results.filter((one) => one.kind === 'refused').map(({ code }) => code)
      assert.deepEqual([stored.length, refused], [1, ['changed', 'changed']])
      etag = stored[0]?.etag
      assert.equal((await writers[0]?.state())?.etag, etag)
    }
    assert.equal((await writers[0]?.history())?.manifests.length, 5)
  })

  test('run no two steps at a time, and leave few files', async (t) => {
    const folder = temporaryFolder(t)
    let running = 0
    let steps = 0
    const step = async (): Promise<void> => {
      running++
      assert.equal(running, 1)
      await new Promise((resolve) => setImmediate(resolve))
      running--
      steps++
    }
    const runAll = async (): Promise<void> => {
      const turn = new WriterTurn(folder, new Files(), NEVER_MS)
      for (let i = 0; i < 10; i++) await turn.run(step)
    }
    await Promise.all([runAll(), runAll(), runAll()])
    assert.equal(steps, 30)
    assert.ok(readdirSync(folder).length <= 20, readdirSync(folder).join())
  })

  test('take over the turn of a process that died, which then writes no manifest', async (t) => {
    const folder = temporaryFolder(t)
    const died = new WriterTurn(folder, new Files())
    const taken = Promise.withResolvers<void>()
    const goOn = Promise.withResolvers<void>()
    const step = died.run(async () => {
      taken.resolve()
      await goOn.promise
      await died.check()
    })
    await taken.promise
    const next = new WriterTurn(folder, new Files(), 50)
    assert.equal(await next.run(async () => 'mine'), 'mine')
    goOn.resolve()
    await assert.rejects(step, { status: 503, code: 'busy' })
    assert.equal(await died.run(async () => 'again'), 'again')
  })

  test('go on with a turn whose end the disk has refused', async () => {
    const disk = new FakeDisk()
    const turn = new WriterTurn('/turns', new Files(disk), NEVER_MS)
    const first = await turn.run(async () => {
      disk.before = (operation) => {
        if (operation === 'open') throw errno('ENOSPC')
      }
      return 'first'
    })
    disk.heal()
    const second = await turn.run(async () => 'second')
    assert.deepEqual([first, second], ['first', 'second'])
    const other = new WriterTurn('/turns', new Files(disk), NEVER_MS)
    assert.equal(await other.run(async () => 'third'), 'third')
  })
})
