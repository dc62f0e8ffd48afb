/**
 * A store in memory that fails, for `store-faults.ts`, and what other media are made with. Needs
 * only Web APIs.
 * @module
 */
import { type ClusterStore, createMemoryStore } from '../../src/gateway/snapshots/store.ts'
import type { Fault, Medium, Random } from './store-faults.ts'

const CODES: Readonly<Record<Exclude<Fault, 'hang'>, string>> = {
  error: 'EIO',
  full: 'ENOSPC',
  'read-only': 'EROFS',
  kill: 'EIO',
}

/** Operations that fail from one of them on, or hang until they are healed. */
export class Gate {
  private fault: { readonly kind: Fault; left: number } | undefined
  /** Operations that hang. */
  hung = 0
  private release: () => void = () => undefined
  private healed: Promise<void> = Promise.resolve()

  mayHang(): boolean {
    return this.fault?.kind === 'hang'
  }

  fail(kind: Fault, after: number): void {
    this.fault = { kind, left: after }
    this.healed = new Promise((resolve) => {
      this.release = resolve
    })
  }

  heal(): void {
    this.fault = undefined
    this.hung = 0
    this.release()
  }

  /** Takes an operation; `isWrite` says whether a full or read-only disk refuses it. */
  async pass(isWrite: boolean): Promise<void> {
    const { fault } = this
    if (fault === undefined || fault.left-- > 0) return
    if (fault.kind === 'hang') {
      this.hung++
      return this.healed
    }
    const isRefused = isWrite || fault.kind === 'error' || fault.kind === 'kill'
    if (isRefused)
      throw Object.assign(new Error(`${CODES[fault.kind]}: fault`), { code: CODES[fault.kind] })
  }
}

/** A store in memory: its process is never killed, as nothing would be left. */
export function memoryMedium(): Medium {
  const store = createMemoryStore()
  const gate = new Gate()
  const gated = async <T>(isWrite: boolean, act: () => Promise<T>): Promise<T> => {
    await gate.pass(isWrite)
    return act()
  }
  const open = (): ClusterStore => ({
    readManifest: () => gated(false, store.readManifest),
    readManifests: () => gated(false, store.readManifests),
    readShard: (sha256) => gated(false, () => store.readShard(sha256)),
    missingShards: (sha256s) => gated(false, () => store.missingShards(sha256s)),
    unlistedShards: (listed) => gated(false, () => store.unlistedShards(listed)),
    dropShards: (sha256s) => gated(true, () => store.dropShards(sha256s)),
    writeShard: (...shard) => gated(true, () => store.writeShard(...shard)),
    writeManifest: (...manifest) => gated(true, () => store.writeManifest(...manifest)),
    pin: (generation) => gated(true, () => store.pin(generation)),
  })
  return {
    open,
    isOneProcess: true,
    fail: (fault, after) => gate.fail(fault, after >> 1),
    mayHang: () => gate.mayHang(),
    hangs: () => gate.hung > 0,
    heal: () => gate.heal(),
    rot: async (random) => {
      const shards = await store.unlistedShards(new Set())
      const bytes = [
        ...(await Promise.all(shards.map(({ sha256 }) => store.readShard(sha256)))),
        ...(await store.readManifests()).map((one) => one.bytes),
      ]
      flip(bytes[random(bytes.length)], random)
    },
  }
}

/** Flips one bit. */
export function flip(bytes: Uint8Array | undefined, random: Random): Uint8Array {
  const changed = bytes ?? new Uint8Array(1)
  const at = random(changed.length)
  changed[at] = (changed[at] ?? 0) ^ (1 << random(8))
  return changed
}
