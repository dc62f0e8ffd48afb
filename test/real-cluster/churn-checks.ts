/**
 * Clients that query two servers while their cluster changes and fails, and check each response
 * against every address that a name ever had.
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { answerOf, type Server } from './asking.ts'
import type { ChurnName, ChurnObjects } from './churn-objects.ts'

/** Queries to a server, by their result. */
export type ChurnTally = {
  right: number
  /** SERVFAIL and REFUSED, which admit a failure. */
  failed: number
  /** No response. */
  lost: number
  /** A name or an address that never existed. */
  wrong: number
  /** A deleted name that was gone and came back. */
  back: number
  readonly examples: string[]
}

/** The A records of a response, and its RCODE. */
export type Seen = { readonly rcode: string; readonly addresses: readonly string[] }

const PAUSE_MS = 20
const EXAMPLES_MAX = 10
const GHOST_SHARE = 0.3
/** Names that get most queries: the newest. */
const RECENT = 150

/** Queries a server for A. @throws {Error} without a response */
export async function seenAt(server: Server, name: string): Promise<Seen> {
  const [head = '', ...records] = await answerOf(server, `${name}. A`)
  const addresses = records.flatMap((line) => /^answer .* IN A (\S+)$/.exec(line)?.[1] ?? [])
  return { rcode: head.split(' ')[0] ?? '', addresses: addresses.sort() }
}

/** Checks a server until `signal` ends it. */
export async function checkServer(
  server: Server,
  { objects, random }: { readonly objects: ChurnObjects; readonly random: () => number },
  signal: AbortSignal,
): Promise<ChurnTally> {
  const tally: ChurnTally = { right: 0, failed: 0, lost: 0, wrong: 0, back: 0, examples: [] }
  const gone = new Set<ChurnName>()
  while (!signal.aborted) {
    const { names } = objects
    const from = random() < 0.7 ? Math.max(0, names.length - RECENT) : 0
    const known = names[from + Math.floor(random() * (names.length - from))]
    const asked = random() < GHOST_SHARE || known === undefined ? objects.ghost() : known
    const verdict = await check(server, asked, gone)
    tally[verdict.kind]++
    const isWorse = verdict.kind === 'wrong' || verdict.kind === 'back'
    if (isWorse && tally.examples.length < EXAMPLES_MAX) tally.examples.push(verdict.text)
    await sleep(PAUSE_MS)
  }
  return tally
}

type Verdict = { readonly kind: Exclude<keyof ChurnTally, 'examples'>; readonly text: string }

/** @param asked a name that existed at some time, or as text one that never did */
async function check(
  server: Server,
  asked: ChurnName | string,
  gone: Set<ChurnName>,
): Promise<Verdict> {
  const name = typeof asked === 'string' ? asked : asked.name
  // A deletion during the query may be seen or not.
  const wasDeleted = typeof asked !== 'string' && asked.isDeleted
  const seen = await seenAt(server, name).catch(() => undefined)
  if (seen === undefined) return { kind: 'lost', text: name }
  const { rcode, addresses } = seen
  const text = `${name}: ${rcode} ${addresses.join(' ')}`
  if (rcode === 'SERVFAIL' || rcode === 'REFUSED') return { kind: 'failed', text }
  if (typeof asked === 'string') return { kind: rcode === 'NXDOMAIN' ? 'right' : 'wrong', text }
  if (!addresses.every((address) => asked.addresses.has(address))) return { kind: 'wrong', text }
  if (wasDeleted && rcode === 'NXDOMAIN') gone.add(asked)
  return { kind: rcode === 'NOERROR' && gone.has(asked) ? 'back' : 'right', text }
}
