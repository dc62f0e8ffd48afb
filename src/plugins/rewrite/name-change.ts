/**
 * Changes of names in the records of replies: of owners, and of names in the data
 * (github.com/coredns/coredns, plugin/rewrite/reverter.go).
 * @module
 */
import { byteAt, concatBytes } from '../../bytes/bytes.ts'
import { nameText, parseNameText } from '../../dns/name-text.ts'
import { nameEnd } from '../../dns/rdata-wire.ts'
import { TYPE } from '../../dns/rr-type.ts'
import type { Pattern } from '../../pattern/pattern.ts'
import { substituted } from './name-match.ts'
import type { RecordDraft, ReplyDraft, ResponseRule } from './rule.ts'

/** Makes another name of one, both as text; the same one when it does not concern it. */
export type NameChange = (name: string) => string

/** Types whose data has a name that is changed, and the bytes before it. */
const OCTETS_BEFORE: ReadonlyMap<number, number> = new Map([
  [TYPE.CNAME, 0],
  [TYPE.DNAME, 0],
  [TYPE.MX, 2],
  [TYPE.NS, 0],
  [TYPE.PTR, 0],
  [TYPE.SOA, 0],
  [TYPE.SRV, 6],
])

/** Makes one name of another, and of names below it those below the other. */
export function remapping(from: string, to: string): NameChange {
  const tail = `.${from}`
  return (name) => {
    if (name === from) return to
    return name.endsWith(tail) ? name.slice(0, -from.length) + to : name
  }
}

/** Makes one ending of names another. */
export function suffixChange(from: string, to: string): NameChange {
  return (name) => (name.endsWith(from) ? name.slice(0, name.length - from.length) + to : name)
}

/** Makes of a name that an expression matches the whole of `to`, with the groups in it. */
export function patternChange(pattern: Pattern, to: string): NameChange {
  return (name) => {
    const match = pattern.exec(name)
    return match === undefined ? name : substituted(to, match.groups)
  }
}

/** Changes the owners of records. */
export function ownerRule(change: NameChange): ResponseRule {
  return {
    record: (record, reply) => {
      record.owner = changedName(record.owner, change, reply)
    },
  }
}

/** Changes the first name in the data of records: targets, exchangers, servers. */
export function valueRule(change: NameChange): ResponseRule {
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
  change: NameChange,
  reply: Pick<ReplyDraft, 'problem'>,
): Uint8Array {
  const before = nameText(name)
  const after = change(before)
  if (after === before) return name
  const changed = parseNameText(after)
  if (changed === undefined) reply.problem = `"${before}" was rewritten to what is no name`
  return changed ?? name
}

/** Where the name in a record's data begins; -1 when it has none that is changed. */
function nameStart({ type, rdata }: RecordDraft): number {
  if (type !== TYPE.NAPTR) return OCTETS_BEFORE.get(type) ?? -1
  let at = 4
  for (let i = 0; i < 3; i++) at += 1 + byteAt(rdata, at)
  return at
}
