/**
 * The line format of the query log: text with placeholders (CoreDNS, plugin/pkg/replacer).
 *
 * | placeholder | value |
 * |---|---|
 * | `{type}` `{class}` `{name}` | the question, its name in lower case |
 * | `{proto}` `{remote}` `{port}` `{local}` | `udp` or `tcp`; client, its port, and the server |
 * | `{size}` `{rsize}` | sizes of query and reply in bytes |
 * | `{duration}` | processing time in seconds |
 * | `{rcode}` `{>rflags}` | the reply's response code and flags |
 * | `{>id}` `{>opcode}` `{>do}` `{>bufsize}` | the query's header and EDNS |
 * | `{/LABEL}` | metadata of plugins, if the server block has `metadata` |
 * | `{common}` `{combined}` | CoreDNS's common format; the same with the operation |
 * @module
 */
import { readUint16 } from '../../bytes/bytes.ts'
import type { Observation } from '../../chain/observation.ts'
import { UDP_BYTES_MIN } from '../../dns/limits.ts'
import { parseResponse } from '../../dns/message.ts'
import { formatName } from '../../dns/name.ts'
import { FLAG } from '../../dns/query.ts'
import { formatRcode } from '../../dns/rcode.ts'
import { formatClass } from '../../dns/rr-class.ts'
import { formatType } from '../../dns/rr-type.ts'

/** The source of a line. */
export type Logged = {
  readonly observation: Observation
  /** Returns the metadata under a label. */
  readonly metadata: (label: string) => string | undefined
}

/** Formats the line of a query. */
export type LineFormat = (logged: Logged) => string

/** Stands for a missing value. */
const NOTHING = '-'
/** The default format. */
export const COMMON: string =
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
  type: ({ query }) => formatType(query.type),
  class: ({ query }) => formatClass(query.class),
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
