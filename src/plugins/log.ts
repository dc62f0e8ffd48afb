/**
 * The `log` plugin: a line for each query, in CoreDNS's format.
 * @module
 */
import { argTexts, options, unknownOption } from '../corefile/arguments.ts'
import { configError } from '../corefile/problem.ts'
import type { Directive, Word } from '../corefile/server-block.ts'
import { readUint16 } from '../dns/bytes.ts'
import { UDP_BYTES_MIN } from '../dns/limits.ts'
import { parseResponse } from '../dns/message.ts'
import { formatName, isSubdomain, parseName, ROOT } from '../dns/name.ts'
import { FLAG } from '../dns/query.ts'
import { formatRcode, RCODE } from '../dns/rcode.ts'
import { formatClass } from '../dns/rr-class.ts'
import { formatType, TYPE } from '../dns/rr-type.ts'
import type { Observation, Setup } from './plugin.ts'
import { type ResponseClass, responseClass, responseKind } from './response-class.ts'

const COMMON =
  '{remote}:{port} - {>id} "{type} {class} {name} {proto} {size} {>do} {>bufsize}" ' +
  '{rcode} {>rflags} {rsize} {duration}'
const COMBINED = `${COMMON} "{>opcode}"`

type Rule = {
  readonly zones: readonly Uint8Array[]
  readonly format: string
  /** `undefined` for all. */
  readonly classes: ReadonlySet<ResponseClass> | undefined
}

/** Configures `log [NAME…] [FORMAT] { class CLASS… }`, as often as there are rules. */
export const setupLog: Setup = (directives, { host }) => {
  const rules = directives.map(parseRule)
  return {
    plugins: [
      {
        name: 'log',
        observe: (observation) => {
          const { name, nameBytes } = observation.query
          const asked = name.subarray(0, nameBytes)
          const rule = rules.find(({ zones }) => zones.some((zone) => isSubdomain(asked, zone)))
          if (rule !== undefined && isWanted(rule, observation)) {
            host.print(formatLine(rule.format, observation))
          }
        },
      },
    ],
  }
}

function parseRule(directive: Directive): Rule {
  const names = [...directive.args]
  const last = names.at(-1)
  const hasFormat = last?.text.includes('{') === true
  if (hasFormat) names.pop()
  const format = hasFormat ? last.text : COMMON
  const classes = options(directive).flatMap((option) => {
    if (option.name !== 'class') throw unknownOption('log', option, ['class'])
    argTexts(option, 1, Infinity)
    return option.args.map(parseClassWord)
  })
  return {
    zones: names.length === 0 ? [ROOT] : names.map(parseScope),
    format: format.replaceAll('{common}', COMMON).replaceAll('{combined}', COMBINED),
    classes: classes.length === 0 || classes.includes('all') ? undefined : toClassSet(classes),
  }
}

function parseScope(word: Word): Uint8Array {
  const name = parseName(word.text.toLowerCase())
  if (name === undefined) throw configError(word, `"${word.text}" is not a domain name`)
  return name
}

function parseClassWord(word: Word): ResponseClass | 'all' {
  const { text } = word
  if (text === 'all' || text === 'success' || text === 'denial' || text === 'error') return text
  throw configError(word, `"${text}" is not one of all, success, denial, error`)
}

function toClassSet(classes: readonly (ResponseClass | 'all')[]): ReadonlySet<ResponseClass> {
  return new Set(classes.filter((value) => value !== 'all'))
}

function isWanted({ classes }: Rule, { reply, replyBytes }: Observation): boolean {
  if (classes === undefined) return true
  const response = parseResponse(reply.subarray(0, replyBytes))
  if (response === undefined) return classes.has('error')
  const { rcode, answer, authority } = response
  const has = (wanted: number): boolean => authority.some(({ type }) => type === wanted)
  const facts = { rcode, answerCount: answer.length, hasSoa: has(TYPE.SOA), hasNs: has(TYPE.NS) }
  return classes.has(responseClass(responseKind(facts)))
}

const VALUES: Readonly<Record<string, (observation: Observation) => string>> = {
  type: ({ query }) => formatType(query.type),
  class: ({ query }) => formatClass(query.class),
  name: ({ query }) => formatName(query.name),
  proto: ({ client }) => (client.transport === 'udp' ? 'udp' : 'tcp'),
  size: ({ query }) => String(query.bytes.length),
  remote: ({ client }) => (client.address.includes(':') ? `[${client.address}]` : client.address),
  port: ({ client }) => String(client.port),
  rcode: ({ reply, replyBytes }) =>
    replyBytes === 0
      ? '-'
      : formatRcode(parseResponse(reply.subarray(0, replyBytes))?.rcode ?? RCODE.NOERROR),
  rsize: ({ replyBytes }) => String(replyBytes),
  duration: ({ durationMs }) => `${(durationMs / 1000).toFixed(9)}s`,
  '>id': ({ query }) => String(query.id),
  '>opcode': ({ query }) => String((query.flags >>> 11) & 15),
  '>do': ({ query }) => String(query.wantsDnssec),
  '>bufsize': ({ query, client }) =>
    String(client.transport === 'udp' ? Math.max(query.udpBytes, UDP_BYTES_MIN) : 65535),
  '>rflags': ({ reply, replyBytes }) =>
    replyBytes === 0 ? '-' : formatFlags(readUint16(reply, 2)),
}

function formatLine(format: string, observation: Observation): string {
  return format.replace(/\{(>?[a-z]+)\}/g, (whole, key: string) => {
    const value = Object.hasOwn(VALUES, key) ? VALUES[key] : undefined
    return value === undefined ? whole : value(observation)
  })
}

function formatFlags(flags: number): string {
  const names: readonly [string, number][] = [
    ['qr', FLAG.QR],
    ['aa', FLAG.AA],
    ['tc', FLAG.TC],
    ['rd', FLAG.RD],
    ['ra', FLAG.RA],
    ['ad', FLAG.AD],
    ['cd', FLAG.CD],
  ]
  return names.flatMap(([name, bit]) => ((flags & bit) === 0 ? [] : [name])).join(',')
}
