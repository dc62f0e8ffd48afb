/**
 * Checks that a bucket writes only if a condition holds: without that, gateways would overwrite
 * each other's publications and tokens.
 * @module
 */
import type { Bucket } from './bucket.ts'

/** The bucket lacks what the stores need. */
export class BucketRefusal extends Error {
  override readonly name = 'BucketRefusal'
}

/** An entity tag that no object has: that of S3 is an MD5, or longer. */
const NO_ETAG = '"00000000000000000000000000000000"'

/**
 * Writes the object `PREFIXcheck`, if it is missing, and tries to overwrite it by conditions that
 * do not hold: `If-None-Match: *` and `If-Match`.
 * @throws {BucketRefusal} when the bucket ignores them
 * @throws {StoreError} when it fails
 */
export async function checkBucket(bucket: Bucket, prefix: string, nowMs: number): Promise<void> {
  const key = `${prefix}check`
  const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
  const write = (text: string, before?: string): Promise<string | undefined> =>
    bucket.swap(key, bytes(text), { before, writtenMs: nowMs })
  await write('conditional writes work here\n')
  const again = await write('If-None-Match is ignored here\n')
  const other = again ?? (await write('If-Match is ignored here\n', NO_ETAG))
  if (other === undefined) return
  const condition = again === undefined ? 'If-Match' : 'If-None-Match'
  throw new BucketRefusal(
    `the bucket ignores ${condition} of conditional writes, without which gateways would ` +
      'overwrite the changes of each other; use a server that has them',
  )
}

/** Returns a bucket that is checked before it is first written. */
export function checkedBucket(bucket: Bucket, prefix: string, now: () => number): Bucket {
  let checked: Promise<void> | undefined
  return {
    ...bucket,
    swap: async (...write) => {
      checked ??= checkBucket(bucket, prefix, now())
      try {
        await checked
      } catch (error) {
        checked = undefined
        throw error
      }
      return bucket.swap(...write)
    },
  }
}
