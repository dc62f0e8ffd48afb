/**
 * The error of a store that cannot read or write.
 * @module
 */
import { HttpError } from '../doh/http-error.ts'

/** Status, code and sentence by the error code: errno, SQLite's name, or `BLOBS` for KV and R2. */
const CAUSES: Readonly<Record<string, readonly [number, string, string]>> = {
  ENOSPC: [507, 'no_space', 'is full; free space and try again'],
  EDQUOT: [507, 'no_space', 'is over its disk quota; free space and try again'],
  SQLITE_FULL: [507, 'no_space', 'is full; free space and try again'],
  EROFS: [503, 'read_only', 'is read-only; make it writable and try again'],
  EACCES: [503, 'no_access', 'denies access; check the owner and mode of its folder'],
  EPERM: [503, 'no_access', 'denies access; check the owner and mode of its folder'],
  BLOBS: [503, 'shards_unavailable', 'for shards (KV or R2) is unavailable; try again'],
}

/** A failure of the store. Clients get the cause's code; the log gets the cause. */
export class StoreError extends HttpError {
  /** The platform's error. It may name paths, so only the log shows it. */
  override readonly cause: unknown

  /** @param code the platform's error code, such as `ENOSPC` */
  constructor(code: string, cause: unknown) {
    const [status, name, what] = CAUSES[code] ?? [500, 'storage_failed', 'failed']
    super(status, name, `The gateway's storage ${what} (${code})`)
    this.cause = cause
  }
}
