/**
 * The data of templates (CoreDNS, plugin/template/template.go; github.com/miekg/dns).
 * @module
 */

import { nameText } from '../../../dns/names/name-text.ts'
import { parseOptions } from '../../../dns/wire/edns.ts'
import { FLAG, type Query } from '../../../dns/wire/query.ts'
import type { Value } from '../../../go/expression/value.ts'
import { type Datum, field, type Member, Struct, TextMap } from '../../../go/template/datum.ts'
import { classText, typeText } from '../../plugin-kit/mnemonics.ts'

/** A query that a rule matched. */
export type TemplateMatch = {
  readonly query: Query
  /** The query name in its own letter case. */
  readonly name: Uint8Array
  readonly remote: string
  /** The zone of the name, as text with a final dot. */
  readonly zone: string
  /** The name as lower-case text. */
  readonly lowerName: string
  /** Mnemonics of class and type; for a query for ANY, the rule's own. */
  readonly class: string
  readonly type: string
  /** The matching expression and its groups. */
  readonly regex: string
  readonly groups: readonly string[]
  readonly groupNames: readonly string[]
  readonly variables: ReadonlyMap<string, Value>
  readonly metadata: (label: string) => string | undefined
}

/** Builds the data of a template. */
export function queryData(match: TemplateMatch): Struct {
  const question = questionData(match)
  const message = messageData(match, question)
  return new Struct('template.templateData', {
    Zone: field(() => match.zone),
    Name: field(() => match.lowerName),
    Regex: field(() => match.regex),
    Match: field(() => match.groups),
    Group: field(() => new TextMap(namedGroups(match))),
    Class: field(() => match.class),
    Type: field(() => match.type),
    Message: field(() => message),
    Question: field(() => question),
    Remote: field(() => match.remote),
    Var: field(() => match.variables),
    Meta: { takes: ['string'], call: (label) => match.metadata(String(label)) ?? '' },
  })
}

/** Returns the groups of a match by number and by name. */
export function namedGroups({
  groups,
  groupNames,
}: Pick<TemplateMatch, 'groups' | 'groupNames'>): Map<string, string> {
  const named = new Map(groups.map((text, i) => [String(i), text]))
  groups.forEach((text, i) => {
    const name = groupNames[i] ?? ''
    if (name !== '') named.set(name, text)
  })
  return named
}

function questionData({ query, name }: TemplateMatch): Struct {
  const shown = (): string =>
    `;${nameText(name)}\t${classText(query.class)}\t ${typeText(query.type)}`
  const members = {
    Name: field(() => nameText(name)),
    Qtype: field(() => BigInt(query.type)),
    Qclass: field(() => BigInt(query.class)),
    String: field(shown),
  }
  return new Struct('dns.Question', members, shown)
}

function messageData({ query }: TemplateMatch, question: Struct): Struct {
  const header = headerMembers(query)
  const opt = query.hasEdns ? optData(query) : new Struct('dns.OPT', undefined, () => '<nil>')
  return new Struct('dns.Msg', {
    ...header,
    MsgHdr: field(() => new Struct('dns.MsgHdr', header)),
    Compress: field(() => false),
    Question: field(() => [question]),
    Answer: field(() => []),
    Ns: field(() => []),
    Extra: field(() => (opt.isNil ? [] : [opt])),
    IsEdns0: field(() => opt),
    Len: field(() => BigInt(query.bytes.length)),
  })
}

function headerMembers({ flags, id }: Query): Record<string, Member> {
  const has = (bit: number): Member => field((): Datum => (flags & bit) !== 0)
  return {
    Id: field(() => BigInt(id)),
    Response: has(FLAG.QR),
    Opcode: field(() => BigInt((flags >>> 11) & 15)),
    Authoritative: has(FLAG.AA),
    Truncated: has(FLAG.TC),
    RecursionDesired: has(FLAG.RD),
    RecursionAvailable: has(FLAG.RA),
    Zero: has(0x40),
    AuthenticatedData: has(FLAG.AD),
    CheckingDisabled: has(FLAG.CD),
    Rcode: field(() => BigInt(flags & 15)),
  }
}

function optData(query: Query): Struct {
  const { udpBytes, wantsDnssec, ednsVersion } = query
  return new Struct('dns.OPT', {
    UDPSize: field(() => BigInt(udpBytes)),
    Do: field(() => wantsDnssec),
    Version: field(() => BigInt(ednsVersion)),
    Option: field(() => optionsOf(query)),
  })
}

/** Returns options as codes and data; the original adds fields to options that it knows. */
function optionsOf({ bytes, optionsStart, optionsBytes }: Query): readonly Struct[] {
  return parseOptions(bytes, optionsStart, optionsBytes).map(
    ({ code, data }) =>
      new Struct('dns.EDNS0', {
        Code: field(() => BigInt(code)),
        Option: field(() => BigInt(code)),
        Data: field(() => Array.from(data, BigInt)),
      }),
  )
}
