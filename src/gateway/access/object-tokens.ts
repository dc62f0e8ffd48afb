/**
 * Tokens of ClientTokens, objects in a cluster: its exporter sends all of them, and nothing else
 * changes them. A token reads `kdo_` and text of the operator's own making, so only its hash finds
 * its record; or it is one of an issuer, whose name for the client finds it.
 * @module
 */
import type { SentSubject } from '../../snapshot/format/client-tokens.ts'
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
/** Before `ISSUER SUB` in `identities`, by the keys that have to verify the client's tokens. */
const PREFIXES: Readonly<Record<SentSubject['keys'], string>> = {
  any: 'subject:',
  cluster: 'account:',
}

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

/** Returns the identity of the record of an object that names a client of an issuer. */
export function subjectIdentity({ issuer, name, keys }: SentSubject): string {
  return `${PREFIXES[keys]}${issuer} ${name}`
}

/** Returns the client, `ISSUER SUB`, that an object's record names; `undefined` without one. */
export function namedSubject({
  identities,
}: Pick<TokenRecord, 'identities'>):
  | (Pick<SentSubject, 'keys'> & { readonly subject: string })
  | undefined {
  const [identity = ''] = identities
  for (const keys of ['any', 'cluster'] as const) {
    const prefix = PREFIXES[keys]
    if (identity.startsWith(prefix)) return { subject: identity.slice(prefix.length), keys }
  }
  return undefined
}

/** Why a record of an object is not in the list. */
export type ObjectRefusal = 'IdTaken' | 'TokenTaken' | 'SubjectTaken' | 'TooMany'

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
 * @param wanted records with `by` of this cluster; of two with one secret or subject, the first
 *   counts
 */
export function replaceObjectsIn(
  records: Map<string, TokenRecord>,
  cluster: string,
  wanted: readonly TokenRecord[],
): ObjectsOutcome {
  const isOurs = ({ by }: TokenRecord): boolean => by === ownerOf(cluster)
  const before = new Map([...records].filter(([, record]) => isOurs(record)))
  for (const id of before.keys()) records.delete(id)
  const [taken, subjects] = [new Set<string>(), new Set<string>()]
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
    const reason = refusalOf(record, { records, taken, subjects, count: others + kept.size })
    if (reason !== undefined) {
      refused.push({ id, reason })
      continue
    }
    kept.add(id)
    for (const { sha256 } of secrets) taken.add(sha256)
    const named = namedSubject(record)
    if (named !== undefined) subjects.add(named.subject)
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
  /** Of the cluster's own objects: those of other clusters may name the same. */
  readonly subjects: ReadonlySet<string>
  readonly count: number
}

function refusalOf(
  record: TokenRecord,
  { records, taken, subjects, count }: Held,
): ObjectRefusal | undefined {
  const { id, secrets } = record
  if (records.has(id)) return 'IdTaken'
  if (secrets.some(({ sha256 }) => taken.has(sha256))) return 'TokenTaken'
  const named = namedSubject(record)
  if (named !== undefined && subjects.has(named.subject)) return 'SubjectTaken'
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
