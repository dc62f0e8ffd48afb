/**
 * A folder on a disk that fails, for `store-faults.ts`.
 * @module
 */
import { createFileStore } from '../../../src/server/gateway/file-store.ts'
import { Files } from '../../../src/server/gateway/files.ts'
import { WriterTurn } from '../../../src/server/gateway/writer-turn.ts'
import { flip, Gate } from '../../gateway/faulty-media.ts'
import type { Medium } from '../../gateway/store-faults.ts'
import { FakeDisk } from './fake-disk.ts'

/** A folder on a disk. */
export function fileMedium(): Medium {
  const disk = new FakeDisk()
  const gate = new Gate()
  const writes = new Set(['mkdir', 'open', 'write', 'sync', 'rename', 'link', 'rm'])
  disk.before = (operation) => gate.pass(writes.has(operation) && !isFull)
  let isFull = false
  return {
    open: () => {
      const files = new Files(disk, () => 0)
      // One process at a time: a turn that is found is that of a process that was killed.
      return createFileStore('/shop', files, new WriterTurn('/shop/turns', files, 0))
    },
    isOneProcess: true,
    fail: (fault, after, random) => {
      isFull = fault === 'full'
      // Full at any byte of what one publication writes.
      if (isFull) disk.capacity = disk.used() + random(2500)
      else gate.fail(fault, after)
    },
    mayHang: () => gate.mayHang(),
    hangs: () => gate.hung > 0,
    heal: () => {
      disk.capacity = Number.POSITIVE_INFINITY
      gate.heal()
    },
    rot: async (random) => {
      const paths = disk.paths('', true)
      const path = paths[random(paths.length)] ?? ''
      const bytes = disk.bytesOf(path).slice()
      if (random(3) === 0) disk.put(path, bytes.slice(0, random(bytes.length)))
      else disk.put(path, flip(bytes, random))
    },
    cutPower: () => disk.cutPower(),
  }
}
