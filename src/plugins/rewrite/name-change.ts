/**
 * Changes of names in the records of replies: owners, and names in rdata
 * (github.com/coredns/coredns, plugin/rewrite/reverter.go).
 * @module
 */
import { byteAt, concatBytes } from '../../bytes/bytes.ts'
import { nameText, parseNameText } from '../../dns/name-text.ts'
import { nameEnd } from '../../dns/rdata-wire.ts'
import { TYPE } from '../../dns/rr-type.ts'
import { type Replacement, replacement } from './name-match.ts'
import type { RecordDraft, ReplyDraft, ResponseRule } from './rule.ts'

/** Bytes before the changed name in the rdata of each type that has one. */
const BYTES_BEFORE: ReadonlyMap<number, number> = new Map([
  [TYPE.CNAME, 0],
  [TYPE.DNAME, 0],
  [TYPE.MX, 2],
  [TYPE.NS, 0],
  [TYPE.PTR, 0],
  [TYPE.SOA, 0],
  [TYPE.SRV, 6],
])

/** Moves names at or below `from` to `to`. */
export function remapping(from: string, to: string): Replacement {
  const below = replacement('suffix', `.${from}`, `.${to}`)
  return (name) => (name === from ? to : below(name))
}

/** Returns a rule that changes the owners of records. */
export function ownerRule(change: Replacement): ResponseRule {
  return {
    record: (record, reply) => {
      record.owner = changedName(record.owner, change, reply)
    },
  }
}

/** Returns a rule that changes the first name in rdata: targets, exchangers, servers. */
export function valueRule(change: Replacement): ResponseRule {
  return {
    record: (record, reply) => {
      const start = nameStart(record)
      if (start < 0) return
      const { rdata } = record
      const end = nameEnd(rdata, start)
      const before = rdata.subarray(start, end)
      const after = changedName(before, change, reply)
      if (after === before) return
      record.rdata = concatBytes(rdata.subarray(0, start), after, rdata.subarray(end))
    },
  }
}

function changedName(
  name: Uint8Array,
  change: Replacement,
  reply: Pick<ReplyDraft, 'problem'>,
): Uint8Array {
  const before = nameText(name)
  const after = change(before)
  if (after === undefined || after === before) return name
  const changed = parseNameText(after)
  if (changed === undefined) reply.problem = `"${before}" was rewritten to an invalid name`
  return changed ?? name
}

/** Returns the offset of the name in a record's rdata; -1 if the type has none to change. */
function nameStart({ type, rdata }: RecordDraft): number {
  if (type !== TYPE.NAPTR) return BYTES_BEFORE.get(type) ?? -1
  let at = 4
  for (let i = 0; i < 3; i++) at += 1 + byteAt(rdata, at)
  return at
}
