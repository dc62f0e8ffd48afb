/**
 * A bucket in memory, which fails as a `Gate` says.
 * @module
 */
import { createHash } from 'node:crypto'
import { StoreError } from '../../../src/gateway/snapshots/store.ts'
import type { Bucket, BucketObject } from '../../../src/server/gateway/bucket.ts'
import { Gate } from '../../gateway/faulty-media.ts'

/** The bucket, and what tests do to it. */
export class FakeBucket implements Bucket {
  readonly objects: Map<string, BucketObject & { readonly modifiedMs: number }> = new Map()
  readonly gate: Gate = new Gate()
  /** Names of the methods that were called. */
  readonly calls: string[] = []
  nowMs = 0
  /** Runs before a call is carried out. */
  before: (method: string, key: string) => Promise<void> | void = () => undefined

  readonly get: Bucket['get'] = async (key, known) => {
    await this.pass('get', key)
    const found = this.objects.get(key)
    if (found === undefined) return undefined
    if (known?.etag === found.etag) return known
    const { etag, bytes, writtenMs } = found
    return { etag, bytes: bytes.slice(), writtenMs }
  }

  readonly writtenMs: Bucket['writtenMs'] = async (key) => {
    await this.pass('writtenMs', key)
    return this.objects.get(key)?.writtenMs
  }

  readonly put: Bucket['put'] = async (key, bytes, writtenMs) => {
    await this.pass('put', key)
    this.set(key, bytes, writtenMs)
  }

  readonly swap: Bucket['swap'] = async (key, bytes, { before, writtenMs }) => {
    await this.pass('swap', key)
    if (this.objects.get(key)?.etag !== before) return undefined
    return this.set(key, bytes, writtenMs)
  }

  readonly list: Bucket['list'] = async (prefix) => {
    await this.pass('list', prefix)
    return [...this.objects]
      .filter(([key]) => key.startsWith(prefix))
      .map(([key, { bytes, modifiedMs }]) => ({ key, size: bytes.length, modifiedMs }))
  }

  readonly remove: Bucket['remove'] = async (key) => {
    await this.pass('remove', key)
    this.objects.delete(key)
  }

  /** Puts an object there, as somebody else does. */
  set(key: string, bytes: Uint8Array, writtenMs = 0): string {
    const etag = createHash('md5').update(bytes).digest('hex')
    this.objects.set(key, { etag, bytes: bytes.slice(), writtenMs, modifiedMs: this.nowMs })
    return etag
  }

  private async pass(method: string, key: string): Promise<void> {
    this.calls.push(method)
    await this.before(method, key)
    try {
      await this.gate.pass(method === 'put' || method === 'swap' || method === 'remove')
    } catch (error) {
      throw new StoreError('S3', error)
    }
  }
}
