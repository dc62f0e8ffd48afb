/**
 * What a gateway at the edge costs, computed from measured calls and rows by the prices that
 * Cloudflare documents in 2026 for Workers and Durable Objects. No bill is measured.
 * @module
 */
import { type Row, row } from '../row.ts'

const DAY_SECONDS = 86_400
const MONTH_SECONDS = 30 * DAY_SECONDS
const CONFIRM_SECONDS = 15
const MILLION = 1_000_000
/** A busy isolate opens a watch of each object in this time. */
const WATCH_SECONDS = 25
/** Memory of an object, as billed. */
const OBJECT_GB = 0.128
/** Of the list of tokens, and of the cluster. */
const OBJECTS = 2
/** Messages to an object that are billed as a request. */
const MESSAGES_PER_REQUEST = 20

/** In dollars a million, above what a month of the paid plan includes. */
const PAID = {
  requests: { included: MILLION, price: 0.15 },
  gbSeconds: { included: 400_000, price: 12.5 },
  rowsRead: { included: 25_000 * MILLION, price: 0.001 },
  rowsWritten: { included: 50 * MILLION, price: 1 },
} as const
/** What a day of the Free plan has. */
const FREE = {
  workerRequests: 100_000,
  requests: 100_000,
  gbSeconds: 13_000,
  rowsRead: 5 * MILLION,
  rowsWritten: 100_000,
} as const

const ISOLATES = 300
const DOLLARS_MAX = 25
/** Isolates that a small team keeps busy all day. */
const TEAM_ISOLATES = 3
const TEAM_QUERIES_LEAST = 90_000

/** Rows of the database. */
export type RowsTaken = { readonly read: number; readonly written: number }

/** What was measured. */
export type EdgeUse = {
  /** Calls to objects of a busy isolate without changes, a second: each opens a watch. */
  readonly callsPerSecond: number
  /** The same of one that follows a cluster with a change a second. */
  readonly changingCallsPerSecond: number
  /** How long an object works on a call. */
  readonly callMs: number
  readonly confirmation: RowsTaken
  readonly change: RowsTaken
}

/** What objects do in some time. */
type Billed = { readonly [unit in keyof typeof PAID]: number }

/** Computes the costs. */
export function costRows(use: EdgeUse): Row[] {
  const quiet = dollars(billed(use, { isolates: ISOLATES, seconds: MONTH_SECONDS }))
  const changing = { ...use, callsPerSecond: use.changingCallsPerSecond }
  const busy = dollars(
    billed(changing, { isolates: ISOLATES, seconds: MONTH_SECONDS, isChanging: true }),
  )
  const day = billed(use, { isolates: TEAM_ISOLATES, seconds: DAY_SECONDS })
  const confirmations = DAY_SECONDS / CONFIRM_SECONDS
  const works = (day.requests * use.callMs * OBJECT_GB) / 1000
  const isolates = `${ISOLATES} busy isolates, objects that never sleep, a month beside requests`
  const team = `a team on the Free plan, ${TEAM_ISOLATES} isolates busy all day`
  return [
    row('edge', isolates, '$', quiet, { atMost: DOLLARS_MAX }),
    row('edge', 'the same with a change a second', '$', busy, { atMost: DOLLARS_MAX }),
    row('edge', `${team}: queries`, 'a day', FREE.workerRequests - confirmations, {
      atLeast: TEAM_QUERIES_LEAST,
    }),
    row('edge', 'the same: requests to objects', 'a day', day.requests, { atMost: FREE.requests }),
    row('edge', 'the same: duration', 'GB-s a day', works, { atMost: FREE.gbSeconds }),
    row('edge', 'the same: rows read', 'a day', day.rowsRead, { atMost: FREE.rowsRead }),
    row('edge', 'the same: rows written', 'a day', day.rowsWritten, { atMost: FREE.rowsWritten }),
  ]
}

function billed(
  { callsPerSecond, confirmation, change }: EdgeUse,
  {
    isolates,
    seconds,
    isChanging = false,
  }: { readonly isolates: number; readonly seconds: number; readonly isChanging?: boolean },
): Billed {
  // A count over two watches may miss one.
  const rate = Math.max(callsPerSecond, OBJECTS / WATCH_SECONDS)
  const watches = rate * isolates * seconds
  const publications = isChanging ? seconds : seconds / CONFIRM_SECONDS
  const { read, written } = isChanging ? change : confirmation
  return {
    // At its end, each watch asks once whether there is anything new.
    requests: watches + watches / MESSAGES_PER_REQUEST + publications,
    gbSeconds: OBJECTS * seconds * OBJECT_GB,
    rowsRead: publications * read,
    rowsWritten: publications * written,
  }
}

function dollars(units: Billed): number {
  const cost = (unit: keyof Billed): number =>
    (Math.max(0, units[unit] - PAID[unit].included) * PAID[unit].price) / MILLION
  return cost('requests') + cost('gbSeconds') + cost('rowsRead') + cost('rowsWritten')
}
