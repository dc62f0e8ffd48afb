/**
 * Returns to the tokens of an earlier time by the point-in-time recovery of SQLite in Durable
 * Objects (developers.cloudflare.com/durable-objects/api/sqlite-storage-api). The database changes
 * when the object starts next, so the object ends itself.
 * @module
 */
import { errorText } from '../src/dns/bytes/unknown.ts'
import type { Restoration } from '../src/gateway/access/token-store.ts'

/** The reason with which an object ends itself. The platform sends it to callers as an error. */
const RESTORING = 'the tokens are being restored'

/** The part of an object's state in use. */
export type RecoverableState = {
  readonly storage: {
    readonly getBookmarkForTime: (atMs: number) => Promise<string>
    readonly onNextSessionRestoreBookmark: (bookmark: string) => Promise<string>
  }
  readonly abort: (reason: string) => void
}

/** The methods of the tokens' object in use. */
export type RestorableTokens = {
  readonly restore: (atMs: number) => Promise<string>
  readonly noteRestored: () => Promise<void>
}

/**
 * Has an object start again with its database of a time; the object ends meanwhile, and the call
 * with it. Returns only where that cannot be done: the reason.
 */
export async function startAgainAt(state: RecoverableState, atMs: number): Promise<string> {
  try {
    const bookmark = await state.storage.getBookmarkForTime(atMs)
    await state.storage.onNextSessionRestoreBookmark(bookmark)
  } catch (error) {
    return errorText(error)
  }
  state.abort(RESTORING)
  return RESTORING
}

/**
 * Restores the tokens' object.
 * @param object returns a stub for one call: one that was there before the end of an object fails
 */
export async function restoreObject(
  object: () => RestorableTokens,
  atMs: number,
): Promise<Restoration> {
  const reason = await object().restore(atMs).catch(errorText)
  if (!reason.includes(RESTORING)) return { kind: 'unsupported', reason }
  await object().noteRestored()
  return { kind: 'restored', atMs }
}
