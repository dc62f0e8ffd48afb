/**
 * Tokens of ClientTokens, objects in a cluster: its exporter sends all of them, and nothing else
 * changes them. A token reads `kdo_` and text of the operator's own making, so only its hash finds
 * its record.
 * @module
 */
import { sha256Hex } from '../../snapshot/format/signature.ts'
import type { TokenRecord } from './token.ts'

/**
 * Most tokens of objects, of all clusters: the list has room for 10,000 tokens, of which these
 * leave some to operators.
 */
const OBJECT_TOKENS_MAX = 9000
/** Before the identifier of a cluster in `by`; no person's name begins so, but with a URL. */
const OWNER = 'cluster '
const ID_DIGITS = 12

/** Returns the `by` of the records of a cluster's objects. */
export function ownerOf(cluster: string): string {
  return OWNER + cluster
}

/** Returns the cluster of the object that a record is for; `undefined` for other records. */
export function objectCluster({ by }: Pick<TokenRecord, 'by'>): string | undefined {
  return by?.startsWith(OWNER) === true ? by.slice(OWNER.length) : undefined
}

/** Returns the identifier of an object's token: the same as long as the object lives. */
export async function objectTokenId(cluster: string, uid: string): Promise<string> {
  const text = JSON.stringify([cluster, uid])
  return (await sha256Hex(new TextEncoder().encode(text))).slice(0, ID_DIGITS)
}

/** Why a record of an object is not in the list. */
export type ObjectRefusal = 'IdTaken' | 'TokenTaken' | 'TooMany'

/** What became of a cluster's records; all lists have identifiers. */
export type ObjectsOutcome = {
  readonly added: readonly string[]
  readonly changed: readonly string[]
  readonly removed: readonly string[]
  readonly refused: readonly { readonly id: string; readonly reason: ObjectRefusal }[]
  /** Days of the last use, in days since 1970. */
  readonly usedDays: readonly { readonly id: string; readonly day: number }[]
}

/** Returns whether the list is another one. */
export function isOtherList({ added, changed, removed }: ObjectsOutcome): boolean {
  return added.length + changed.length + removed.length > 0
}

/**
 * Replaces the records of a cluster's objects in a map. A record of anything else stays, and
 * refuses one with its identifier; a secret belongs to the object that had it first, because the
 * hash alone finds the record.
 * @param wanted records with `by` of this cluster; the first of two with one secret counts
 */
export function replaceObjectsIn(
  records: Map<string, TokenRecord>,
  cluster: string,
  wanted: readonly TokenRecord[],
): ObjectsOutcome {
  const isOurs = ({ by }: TokenRecord): boolean => by === ownerOf(cluster)
  const before = new Map([...records].filter(([, record]) => isOurs(record)))
  for (const id of before.keys()) records.delete(id)
  const taken = new Set<string>()
  let others = 0
  for (const record of records.values()) {
    if (objectCluster(record) !== undefined) others++
    for (const { sha256 } of record.secrets) taken.add(sha256)
  }
  const refused: ObjectsOutcome['refused'][number][] = []
  const [added, changed]: [string[], string[]] = [[], []]
  const usedDays: ObjectsOutcome['usedDays'][number][] = []
  const kept = new Set<string>()
  for (const record of wanted) {
    const { id, secrets } = record
    const reason = refusalOf(record, { records, taken, count: others + kept.size })
    if (reason !== undefined) {
      refused.push({ id, reason })
      continue
    }
    kept.add(id)
    for (const { sha256 } of secrets) taken.add(sha256)
    const known = before.get(id)
    const next = known === undefined ? record : renewed(known, record)
    records.set(id, next)
    if (known === undefined) added.push(id)
    else if (next !== known) changed.push(id)
    if (next.usedDay !== undefined) usedDays.push({ id, day: next.usedDay })
  }
  const removed = [...before.keys()].filter((id) => !kept.has(id))
  return { added, changed, removed, refused, usedDays }
}

type Held = {
  readonly records: ReadonlyMap<string, TokenRecord>
  /** Hashes of secrets. */
  readonly taken: ReadonlySet<string>
  readonly count: number
}

function refusalOf(
  { id, secrets }: TokenRecord,
  { records, taken, count }: Held,
): ObjectRefusal | undefined {
  if (records.has(id)) return 'IdTaken'
  if (secrets.some(({ sha256 }) => taken.has(sha256))) return 'TokenTaken'
  return count >= OBJECT_TOKENS_MAX ? 'TooMany' : undefined
}

/** Returns what is known, with what the object says now; the same record where nothing differs. */
function renewed(known: TokenRecord, record: TokenRecord): TokenRecord {
  const { createdMs, usedDay } = known
  const next = { ...record, createdMs, ...(usedDay !== undefined && { usedDay }) }
  return contentOf(next) === contentOf(known) ? known : next
}

function contentOf({ name, scope, identities, secrets, expiresMs }: TokenRecord): string {
  const hashes = secrets.map(({ sha256 }) => sha256)
  const { clusters, origins, namespaces, recurse, explain = false } = scope
  const may = [clusters, origins, namespaces, recurse, explain]
  return JSON.stringify([name, may, identities, hashes, expiresMs ?? null])
}
