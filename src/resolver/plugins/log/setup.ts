/**
 * The `log` plugin: writes a line per query in CoreDNS's format.
 * @module
 */

import {
  argTexts,
  type OptionReaders,
  parseChoice,
  readOptions,
} from '../../../corefile/arguments.ts'
import { configError } from '../../../corefile/problem.ts'
import type { Directive, Word } from '../../../corefile/server-block.ts'
import { readUint16 } from '../../../dns/bytes/bytes.ts'
import { UDP_BYTES_MIN } from '../../../dns/names/limits.ts'
import { formatName, parseName, ROOT } from '../../../dns/names/name.ts'
import { formatRcode } from '../../../dns/names/rcode.ts'
import { isTransferType, TYPE } from '../../../dns/names/rr-type.ts'
import { parseResponse } from '../../../dns/wire/message.ts'
import { FLAG } from '../../../dns/wire/query.ts'
import type { Observation } from '../../contract/observation.ts'
import type { PluginEntry } from '../../contract/plugin-entry.ts'
import { classText, typeText } from '../../plugin-kit/mnemonics.ts'
import {
  type ResponseClass,
  type ResponseKind,
  responseClass,
  responseKind,
} from '../../plugin-kit/response-class.ts'
import { closestZoneIndex } from '../../plugin-kit/zones.ts'
import { hasMetadata, metadataOf } from '../metadata/metadata.ts'

type Rule = {
  readonly zones: readonly Uint8Array[]
  readonly format: LineFormat
  /** `undefined` for all classes. */
  readonly classes: ReadonlySet<ResponseClass> | undefined
}

/** CoreDNS's names of response kinds, for `{/log/type}`. */
const KIND_NAMES: Readonly<Record<ResponseKind, string>> = {
  answer: 'NOERROR',
  nodata: 'NODATA',
  nxdomain: 'NXDOMAIN',
  delegation: 'DELEGATION',
  'server-error': 'SERVERERROR',
  'other-error': 'OTHERERROR',
}

/**
 * Configures `log [NAME…] [FORMAT] { class CLASS… }`. Each directive adds a rule; only the first
 * rule for a query's name applies, whether or not it includes the response's class.
 */
export const logPlugin: PluginEntry = {
  name: 'log',
  options: ['class'],
  setup: (directives, { host, peers }) => {
    const rules = directives.map(parseRule)
    const fromPlugins = metadataOf(peers)
    return {
      plugin: {
        name: 'log',
        observe: (observation) => {
          const { query } = observation
          const rule = rules.find(({ zones }) => closestZoneIndex(zones, query) >= 0)
          if (rule === undefined || !isWanted(rule, observation)) return
          const metadata = (label: string): string | undefined =>
            hasMetadata(peers())
              ? (ownMetadata(label, observation) ?? fromPlugins(label, observation))
              : undefined
          host.print(rule.format({ observation, metadata }))
        },
      },
    }
  },
}

/** Returns the value of a label that `log` itself provides. */
function ownMetadata(label: string, observation: Observation): string | undefined {
  if (label === 'log/type') return classify(observation).name
  return label === 'log/class' ? classify(observation).responseClass : undefined
}

function parseRule(directive: Directive): Rule {
  const names = [...directive.args]
  const last = names.at(-1)
  const hasFormat = last?.text.includes('{') === true
  if (hasFormat) names.pop()
  const { classes } = readOptions(directive, READERS, { classes: [] })
  return {
    zones: names.length === 0 ? [ROOT] : names.map(parseScope),
    format: compileFormat(hasFormat ? last.text : COMMON),
    classes: classes.length === 0 || classes.includes('all') ? undefined : toClassSet(classes),
  }
}

function parseScope(word: Word): Uint8Array {
  const name = parseName(word.text.toLowerCase())
  if (name === undefined) throw configError(word, `"${word.text}" is not a domain name`)
  return name
}

const READERS: OptionReaders<{ classes: readonly (ResponseClass | 'all')[] }> = {
  class: (option, { classes }) => {
    argTexts(option, 1, Infinity)
    const known = ['all', 'success', 'denial', 'error'] as const
    return { classes: [...classes, ...option.args.map((word) => parseChoice(word, known))] }
  },
}

function toClassSet(classes: readonly (ResponseClass | 'all')[]): ReadonlySet<ResponseClass> {
  return new Set(classes.filter((value) => value !== 'all'))
}

function isWanted({ classes }: Rule, observation: Observation): boolean {
  return classes === undefined || classes.has(classify(observation).responseClass)
}

/** Classifies a reply; as in CoreDNS, missing replies and transfers are errors. */
function classify({ query, reply, replyBytes }: Observation): {
  readonly name: string
  readonly responseClass: ResponseClass
} {
  if (isTransferType(query.type)) {
    return { name: 'META', responseClass: 'error' }
  }
  const response = parseResponse(reply.subarray(0, replyBytes))
  if (response === undefined) return { name: KIND_NAMES['other-error'], responseClass: 'error' }
  const { rcode, answer, authority } = response
  const has = (wanted: number): boolean => authority.some(({ type }) => type === wanted)
  const facts = { rcode, answerCount: answer.length, hasSoa: has(TYPE.SOA), hasNs: has(TYPE.NS) }
  const kind = responseKind(facts)
  return { name: KIND_NAMES[kind], responseClass: responseClass(kind) }
}

type Logged = {
  readonly observation: Observation
  readonly metadata: (label: string) => string | undefined
}

type LineFormat = (logged: Logged) => string

/** Stands for a missing value. */
const NOTHING = '-'
const COMMON: string =
  '{remote}:{port} - {>id} "{type} {class} {name} {proto} {size} {>do} {>bufsize}" ' +
  '{rcode} {>rflags} {rsize} {duration}'
const COMBINED = `${COMMON} "{>opcode}"`

const FLAGS: readonly (readonly [name: string, bit: number])[] = [
  ['qr', FLAG.QR],
  ['aa', FLAG.AA],
  ['tc', FLAG.TC],
  ['rd', FLAG.RD],
  ['ra', FLAG.RA],
  ['z', 0x40],
  ['ad', FLAG.AD],
  ['cd', FLAG.CD],
]

const VALUES: Readonly<Record<string, (observation: Observation) => string>> = {
  type: ({ query }) => typeText(query.type),
  class: ({ query }) => classText(query.class),
  name: ({ query }) => formatName(query.name),
  proto: ({ client }) => (client.transport === 'udp' ? 'udp' : 'tcp'),
  size: ({ query }) => String(query.bytes.length),
  remote: ({ client }) => bracketed(client.address),
  port: ({ client }) => String(client.port),
  local: ({ client }) => bracketed(client.localAddress ?? NOTHING),
  rcode: (observation) => formatReplyCode(observation),
  rsize: ({ replyBytes }) => String(replyBytes),
  duration: ({ durationMs }) => formatSeconds(durationMs),
  '>id': ({ query }) => String(query.id),
  '>opcode': ({ query }) => String((query.flags >>> 11) & 15),
  '>do': ({ query }) => String(query.wantsDnssec),
  '>bufsize': ({ query, client }) =>
    String(client.transport === 'udp' ? Math.max(query.udpBytes, UDP_BYTES_MIN) : 65535),
  '>rflags': ({ reply, replyBytes }) =>
    replyBytes === 0 ? NOTHING : formatFlags(readUint16(reply, 2)),
}

/** Compiles a format. Unknown placeholders stay as they are. */
export function compileFormat(text: string): LineFormat {
  const whole = text.replaceAll('{common}', COMMON).replaceAll('{combined}', COMBINED)
  const parts = whole.split(/(\{[^{}]*\})/).map(compilePart)
  return (logged) => parts.map((part) => part(logged)).join('')
}

function compilePart(text: string): LineFormat {
  const key = /^\{(.*)\}$/s.exec(text)?.[1]
  if (key?.startsWith('/') === true) {
    return ({ metadata }) => metadata(key.slice(1)) ?? NOTHING
  }
  const value = key !== undefined && Object.hasOwn(VALUES, key) ? VALUES[key] : undefined
  return value === undefined ? () => text : ({ observation }) => value(observation)
}

function formatReplyCode({ reply, replyBytes }: Observation): string {
  const response = parseResponse(reply.subarray(0, replyBytes))
  return response === undefined ? NOTHING : formatRcode(response.rcode)
}

/** Formats seconds to the nanosecond, without trailing zeros. */
function formatSeconds(durationMs: number): string {
  return `${(durationMs / 1000).toFixed(9).replace(/\.?0+$/, '')}s`
}

function formatFlags(flags: number): string {
  return FLAGS.flatMap(([name, bit]) => ((flags & bit) === 0 ? [] : [name])).join(',')
}

function bracketed(address: string): string {
  return address.includes(':') ? `[${address}]` : address
}
