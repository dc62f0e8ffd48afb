/**
 * Queries the servers under test, and formats their responses for comparison.
 * @module
 */
import { readUint16 } from '../../src/dns/bytes/bytes.ts'
import { nameOf } from '../../src/dns/names/name.ts'
import { formatRcode } from '../../src/dns/names/rcode.ts'
import { parseType, TYPE } from '../../src/dns/names/rr-type.ts'
import { parseResponse, type ResourceRecord } from '../../src/dns/wire/message.ts'
import { FLAG } from '../../src/dns/wire/query.ts'
import { writeQuery } from '../../src/dns/wire/write-query.ts'
import { askDoh } from '../../src/gateway/doh/doh-client.ts'
import { exchange } from '../../src/server/upstream/exchange.ts'
import { formatRecord } from '../../src/snapshot/records/zone-text.ts'

/** A server: a port of the loopback address, or a URL. */
export type Server =
  | { readonly protocol: 'udp' | 'tcp'; readonly port: number }
  | { readonly protocol: 'doh'; readonly url: string; readonly token: string }

/** A question as text: `web.shop.svc.cluster.local. A`. */
export type QuestionText = `${string} ${string}`

const TIMEOUT_MS = 5000
let lastId = 0

/** Sends a query; resolves with the bytes of the response. */
export function ask(server: Server, question: QuestionText): Promise<Uint8Array> {
  const message = messageOf(question)
  if (server.protocol === 'doh') {
    const { url, token } = server
    return askDoh(`${url}/dns-query`, message, {
      signal: AbortSignal.timeout(TIMEOUT_MS),
      fetch: (to, init) => {
        const headers = new Headers(init.headers)
        headers.set('authorization', `Bearer ${token}`)
        return fetch(to, { ...init, headers })
      },
    })
  }
  const upstream = { transport: 'dns', address: '127.0.0.1', port: server.port } as const
  return exchange(upstream, message, { protocol: server.protocol, timeoutMs: TIMEOUT_MS })
}

/** Writes a query. */
export function messageOf(question: QuestionText): Uint8Array {
  const [name = '', type = ''] = question.split(' ')
  lastId = (lastId + 1) & 0xffff
  const wanted = parseType(type) ?? TYPE.A
  return writeQuery({ name: nameOf(name), type: wanted, id: lastId, udpBytes: 1232 })
}

/** Formats a response: RCODE and flags, then each section sorted, because its order is free. */
export function describe(reply: Uint8Array): string[] {
  const response = parseResponse(reply)
  if (response === undefined) return ['not a response']
  const flags = readUint16(reply, 2)
  const set = (['AA', 'TC', 'RD', 'RA', 'AD', 'CD'] as const).filter((name) => flags & FLAG[name])
  return [
    [formatRcode(response.rcode), ...set].join(' '),
    ...section('answer', response.answer),
    ...section('authority', response.authority),
    ...section('additional', response.additional),
  ]
}

/** Sends a query and formats the response. */
export async function answerOf(server: Server, question: QuestionText): Promise<string[]> {
  return describe(await ask(server, question))
}

function section(name: string, records: readonly ResourceRecord[]): string[] {
  return records.map((record) => `${name} ${withoutSerial(formatRecord(record))}`).sort()
}

/** Masks the serial of a SOA record: each server has its own. */
function withoutSerial(line: string): string {
  return line.replace(/( IN SOA \S+ \S+) \d+ /, '$1 SERIAL ')
}
