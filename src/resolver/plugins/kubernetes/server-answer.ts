/**
 * The zone's name servers for a client that may not see all of their namespaces: the visible ones
 * or, without any, what CoreDNS answers without such a Service.
 * @module
 */
import {
  asWordBytes,
  compareBytes,
  equalBytes,
  type SizedBytes,
  toLatin1,
} from '../../../dns/bytes/bytes.ts'
import { CLASS } from '../../../dns/names/rr-class.ts'
import { TYPE } from '../../../dns/names/rr-type.ts'
import type { Query } from '../../../dns/wire/query.ts'
import { QUESTION_OFFSET, type ReplyWriter, SECTION } from '../../../dns/wire/reply-writer.ts'
import { PARTS_BYTES } from '../../../snapshot/format/layout.ts'
import type { SetWriter } from '../../../snapshot/read/set-writer.ts'
import type { Shard } from '../../../snapshot/read/shard.ts'
import type { Visibility } from '../../../snapshot/read/visibility.ts'
import {
  NS_DNS,
  readServerChoice,
  SERVER_CHOICES_TYPE,
} from '../../../snapshot/records/server-choice.ts'
import type { Rules } from './nxdomain-rules.ts'
import { VERDICT } from './with-snapshot.ts'

const { DATA, NODATA, NXDOMAIN } = VERDICT
const { A, AAAA, NS, PTR, TXT } = TYPE
const { ANSWER, ADDITIONAL } = SECTION
const OWN: SizedBytes = asWordBytes(NS_DNS)
const DNS_BYTES = 4

/** Where an answer is written, and by which rules. */
type Answering = {
  readonly reply: ReplyWriter
  readonly sets: SetWriter
  readonly rules: Rules
}

/** The name servers that a client sees. */
export type SeenServers = {
  /** Their names below the zone without duplicates, in the order of the NS records. */
  readonly targets: readonly Uint8Array[]
  /** Addresses of `ns.dns` by type, sorted, without duplicates. */
  readonly ipv4: readonly Uint8Array[]
  readonly ipv6: readonly Uint8Array[]
  readonly ttlSeconds: number
  /** Whether they are the default, `ns.dns` alone, because no Service is visible. */
  readonly isOwn: boolean
}

/**
 * Reads the visible name servers from the node that lists them all.
 * @returns `undefined` if the client sees all of their namespaces
 */
export function seenServers(
  shard: Shard,
  node: number,
  namespaces: Visibility,
): SeenServers | undefined {
  const ref = node === 0 ? 0 : shard.findSet(node, SERVER_CHOICES_TYPE)
  if (ref === 0) return undefined
  const all = partsOf(shard, ref).map(readServerChoice)
  const isSeen = ({ namespace }: { readonly namespace: string }): boolean =>
    namespace !== '' && namespaces.hasNamed(shard, namespace)
  const seen = all.filter(isSeen)
  const own = all.filter(({ namespace }) => namespace === '')
  if (seen.length + own.length === all.length) return undefined
  const chosen = seen.length === 0 ? own : seen
  const addresses = chosen.map(({ address }) => address)
  const targets = chosen.map(({ target }) => target).filter(({ length }) => length > 0)
  return {
    targets: [...new Map(targets.map((target) => [toLatin1(target), target])).values()],
    ipv4: inOrder(addresses.filter(({ length }) => length === 4)),
    ipv6: inOrder(addresses.filter(({ length }) => length === 16)),
    ttlSeconds: shard.setTtl(shard.refSet(ref)),
    isOwn: seen.length === 0,
  }
}

/** Whether a name of so many bytes below the zone depends on the visible name servers. */
export function isServerName({ name, type }: Query, relativeBytes: number): boolean {
  if (relativeBytes === 0) return type === NS
  if (relativeBytes !== NS_DNS.length && relativeBytes !== DNS_BYTES) return false
  const start = NS_DNS.length - relativeBytes
  for (let i = 0; i < relativeBytes; i++) if (name[i] !== NS_DNS[start + i]) return false
  return true
}

/** Answers for such a name. */
export function answerServers(
  answer: Answering,
  { type }: Query,
  relativeBytes: number,
  servers: SeenServers,
): number {
  const { sets, rules } = answer
  const { targets, ipv4, ipv6, ttlSeconds } = servers
  if (relativeBytes === 0) {
    for (const target of targets) writeTarget(answer, target, ttlSeconds)
    return targets.length > 0 ? DATA : NODATA
  }
  const isCoredns = rules === 'coredns'
  if (relativeBytes === DNS_BYTES) return isCoredns ? NXDOMAIN : NODATA
  if (isCoredns && (type === TXT || type === PTR)) return NXDOMAIN
  const addresses = type === A ? ipv4 : type === AAAA ? ipv6 : []
  const { length } = addresses
  const first = length < 2 || sets.rotation === undefined ? 0 : sets.rotation() % length
  for (let i = 0; i < length && !answer.reply.isFull; i++) {
    answer.reply.pointOwner(QUESTION_OFFSET)
    writeAddress(answer.reply, addresses[(first + i) % length], { type, ttlSeconds })
    answer.reply.endRecord(ANSWER)
  }
  return length > 0 ? DATA : NODATA
}

/** Writes the addresses of the default name server into the additional section. */
export function writeOwnServer({ reply, sets }: Answering, servers: SeenServers): void {
  if (sets.isMinimal) return
  const { ipv4, ipv6, ttlSeconds } = servers
  for (const address of [...ipv4, ...ipv6]) {
    if (reply.isFull) return
    reply.beginOwner()
    if (!reply.writeJoinedName(OWN, 0, OWN.size, sets.origin)) return
    writeAddress(reply, address, { type: address.length === 4 ? A : AAAA, ttlSeconds })
    reply.endRecord(ADDITIONAL)
  }
}

function writeAddress(
  reply: ReplyWriter,
  address: Uint8Array | undefined,
  { type, ttlSeconds }: { readonly type: number; readonly ttlSeconds: number },
): void {
  reply.beginRecord(type, CLASS.IN, ttlSeconds)
  if (address !== undefined) reply.writeBytes(address, 0, address.length)
}

function writeTarget({ reply, sets }: Answering, target: Uint8Array, ttlSeconds: number): void {
  if (reply.isFull) return
  reply.pointOwner(QUESTION_OFFSET)
  reply.beginRecord(NS, CLASS.IN, ttlSeconds)
  const name = asWordBytes(target)
  if (reply.writeJoinedName(name, 0, name.size, sets.origin)) reply.endRecord(ANSWER)
  else reply.cancelRecord()
}

function inOrder(addresses: readonly Uint8Array[]): readonly Uint8Array[] {
  return addresses
    .toSorted(compareBytes)
    .filter((one, i, all) => i === 0 || !equalBytes(one, all[i - 1] ?? one))
}

/** Returns the rdata of an RRset whose parts hold no names. */
function partsOf(shard: Shard, ref: number): Uint8Array[] {
  let at = shard.refSet(ref) + 4
  return Array.from({ length: shard.refCount(ref) }, () => {
    const start = at + PARTS_BYTES
    at = start + shard.uint16(at)
    return shard.bytes.subarray(start, at)
  })
}
