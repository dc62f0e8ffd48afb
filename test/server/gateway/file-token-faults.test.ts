/** Tokens on a disk that fails or rots. */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import type { TokenRecord } from '../../../src/gateway/access/token.ts'
import type { TokenStore } from '../../../src/gateway/access/token-store.ts'
import { StoreError } from '../../../src/gateway/snapshots/store.ts'
import { createFileTokenStore } from '../../../src/server/gateway/file-token-store.ts'
import { Files } from '../../../src/server/gateway/files.ts'
import { tokenRecord } from '../../gateway/tokens.ts'
import { errno, FakeDisk } from './fake-disk.ts'

const PATH = '/data/tokens.jsonl'
/** Version 3 of it, with three tokens; the disk has no other. */
const NEWEST = `${PATH}.3`

/** A store on a disk that can fail, and the lines that it found broken. */
function storeOn(disk: FakeDisk): { readonly store: TokenStore; readonly broken: number[] } {
  const broken: number[] = []
  const onBroken = (_: string, line: number): void => void broken.push(line)
  return { store: createFileTokenStore(PATH, { files: new Files(disk), onBroken }), broken }
}

async function threeTokens(): Promise<{ disk: FakeDisk; records: TokenRecord[] }> {
  const made = await Promise.all([1, 2, 3].map(() => tokenRecord({ name: 'ci', expiresMs: 5 })))
  const records = made.map(({ record }) => record)
  const first = new FakeDisk()
  for (const record of records) await storeOn(first).store.add(record)
  const disk = new FakeDisk()
  disk.put(NEWEST, first.bytesOf(NEWEST))
  return { disk, records }
}

describe('the tokens in a file', () => {
  test('stay as they were when the disk is full, at each byte', async () => {
    const { disk, records } = await threeTokens()
    const { record } = await tokenRecord()
    const before = disk.bytesOf(NEWEST)
    for (let room = 0; ; room++) {
      const { store } = storeOn(disk)
      disk.capacity = before.length + room
      const refusal = await store.add(record).catch((error: unknown) => error)
      if (!(refusal instanceof Error)) break
      assert.ok(refusal instanceof StoreError && refusal.status === 507, String(refusal))
      assert.equal(disk.bytesOf(NEWEST), before)
      assert.deepEqual(await store.list(), records)
      assert.deepEqual(disk.paths('', true), [NEWEST])
    }
    assert.equal((await storeOn(disk).store.list()).length, 4)
  })

  test('go on without a truncated line, which the next change sets aside', async () => {
    const { disk, records } = await threeTokens()
    disk.put(NEWEST, disk.bytesOf(NEWEST).slice(0, -9))
    const { store, broken } = storeOn(disk)
    assert.deepEqual(await store.list(), records.slice(0, 2))
    await store.list()
    assert.deepEqual(broken, [3])
    const { record } = await tokenRecord()
    await store.add(record)
    assert.deepEqual(await store.list(), [...records.slice(0, 2), record])
    assert.deepEqual(disk.paths('/data'), [NEWEST, `${PATH}.4`, `${PATH}.broken`])
    assert.match(new TextDecoder().decode(disk.bytesOf(`${PATH}.broken`)), /^\{"id":.*\n$/)
    assert.deepEqual(await storeOn(disk).store.list(), [...records.slice(0, 2), record])
  })

  test('are as they were made or refused, whichever bit is flipped', async () => {
    const { disk, records } = await threeTokens()
    const known = new Set(records.map((record) => JSON.stringify(record)))
    const bytes = disk.bytesOf(NEWEST)
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const flipped = bytes.slice()
      flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      disk.put(NEWEST, flipped)
      const left = await storeOn(disk).store.list()
      for (const record of left) assert.ok(known.has(JSON.stringify(record)), `bit ${bit}`)
      assert.ok(left.length >= 1, `bit ${bit} takes ${3 - left.length} tokens away`)
    }
  })

  test('are read from files without checksums, but not if a time is no number', async () => {
    const disk = new FakeDisk()
    const { record } = await tokenRecord({ expiresMs: 5 })
    const text = JSON.stringify(record)
    const bad = text.replace('"expiresMs":5', '"expiresMs":"5"')
    disk.put(PATH, new TextEncoder().encode(`${bad}\nnull\n${text}\n`))
    const { store, broken } = storeOn(disk)
    assert.deepEqual(await store.list(), [record])
    assert.deepEqual(broken, [1, 2])
  })

  test('leave no half-written file of a killed process', async () => {
    const { disk, records } = await threeTokens()
    disk.put(`${PATH}.0b0e.tmp`, Uint8Array.of(1))
    await storeOn(disk).store.remove(records[0]?.id ?? '')
    assert.deepEqual(disk.paths('/data'), [NEWEST, `${PATH}.4`])
  })

  test('that were removed never come back, at whichever step the process is killed', async () => {
    for (let last = 1; ; last++) {
      const { disk, records } = await threeTokens()
      const [{ id } = assert.fail()] = records
      disk.before = () => {
        if (disk.steps > last) throw errno('EIO')
      }
      const isRemoved = await storeOn(disk)
        .store.remove(id)
        .catch(() => false)
      disk.heal()
      disk.cutPower()
      const ids = (await storeOn(disk).store.list()).map((record) => record.id)
      const left = records.map((record) => record.id).filter((one) => one !== id)
      assert.deepEqual(ids, isRemoved || !ids.includes(id) ? left : [id, ...left])
      if (isRemoved) break
    }
  })
})
