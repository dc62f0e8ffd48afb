/**
 * Which manifest may follow another: checks its time and generation against the gateway's clock,
 * and what a manifest of the same generation may change.
 * @module
 */
import { equalBytes } from '../../dns/bytes/bytes.ts'
import { formatManifest, type Manifest } from '../../snapshot/format/manifest.ts'

/** Tolerated difference between the clocks of the gateway and its exporters. */
const CLOCK_SKEW_MS = 5 * 60 * 1000

/** Why a manifest is refused. */
type OrderRefusal = {
  readonly status: 400 | 409
  readonly code: 'from_the_future' | 'not_newer' | 'older_time'
  readonly message: string
}

/**
 * Returns why a manifest may not follow the previous one, or `undefined` when it may. A manifest
 * from a clock that was ahead blocks nothing once the clocks are right: a generation may always
 * rise by one, and a time in the future does not block later ones.
 */
export function findOrderRefusal(
  next: Manifest,
  before: Manifest | undefined,
  nowMs: number,
): OrderRefusal | undefined {
  const limitMs = nowMs + CLOCK_SKEW_MS
  const { generation } = next
  const { time, confirmed = time } = next
  for (const [what, text] of [
    ['time', time],
    ['confirmation', confirmed],
  ] as const) {
    const timeMs = Date.parse(text)
    if (timeMs <= limitMs) continue
    const seconds = Math.round((timeMs - nowMs) / 1000)
    const message = `The manifest's ${what} ${text} is ${seconds} s ahead of the gateway's clock`
    return { status: 400, code: 'from_the_future', message: `${message}; set the clocks` }
  }
  const isFollowing = before !== undefined && generation <= before.generation + 1
  if (!isFollowing && generation > limitMs / 1000) {
    const message = `Generation ${generation} is ahead of the gateway's clock in Unix seconds`
    return { status: 400, code: 'from_the_future', message }
  }
  return before && findAgeRefusal(next, before, limitMs)
}

function findAgeRefusal(
  next: Manifest,
  before: Manifest,
  limitMs: number,
): OrderRefusal | undefined {
  const { generation } = before
  const [nextMs, beforeMs] = [Date.parse(next.time), Date.parse(before.time)]
  const isConfirmation = next.generation === generation && nextMs > beforeMs
  if (next.generation < generation || (next.generation === generation && !isConfirmation)) {
    const message = `Generation ${next.generation} is not newer than ${generation}`
    return { status: 409, code: 'not_newer', message }
  }
  if (isConfirmation && !isSameContent(next, before)) {
    const message = `Generation ${generation} has other content; publish it as a later generation`
    return { status: 409, code: 'not_newer', message }
  }
  if (nextMs >= beforeMs - CLOCK_SKEW_MS || beforeMs > limitMs) return undefined
  const message = `The manifest's time ${next.time} is before the current one's, ${before.time}`
  return { status: 409, code: 'older_time', message: `${message}; set the exporter's clock` }
}

/** Returns whether two manifests differ only in their times and the versions of their sources. */
function isSameContent(next: Manifest, before: Manifest): boolean {
  const { time, sources } = before
  const undated = (manifest: Manifest): Uint8Array =>
    formatManifest({ ...manifest, time, confirmed: time, sources })
  return equalBytes(undated(next), undated(before))
}

/** A generation: its number, and when its exporter last confirmed it. */
export type Generation = { readonly generation: number; readonly timeMs: number }

/** The newest are all kept; older ones at intervals, so that they reach back for hours. */
const NEWEST_KEPT = 5
const APART_MS = 10 * 60 * 1000

/**
 * Chooses the generations to keep: the newest five, and older ones at least ten minutes apart,
 * counted from the oldest, `max` in all.
 * @param all sorted, the newest first
 */
export function chooseKept(all: readonly Generation[], max: number): Generation[] {
  const newest = all.slice(0, Math.min(NEWEST_KEPT, max))
  const older: Generation[] = []
  for (const one of all.slice(newest.length).toReversed()) {
    const last = older.at(-1)
    if (last === undefined || one.timeMs - last.timeMs >= APART_MS) older.push(one)
  }
  const room = max - newest.length
  return [...newest, ...older.slice(Math.max(0, older.length - room)).toReversed()]
}
