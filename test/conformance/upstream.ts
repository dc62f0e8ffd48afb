/**
 * An upstream that answers what was recorded, over UDP and TCP on one port of the loopback address.
 * @module
 */
import { createSocket } from 'node:dgram'
import { createServer } from 'node:net'
import { concatBytes, parseHex, readUint16, writeUint16 } from '../../src/dns/bytes/bytes.ts'
import { formatName, lowerName } from '../../src/dns/names/name.ts'
import { formatClass } from '../../src/dns/names/rr-class.ts'
import { formatType, TYPE } from '../../src/dns/names/rr-type.ts'
import { MessageStream } from '../../src/dns/wire/message-stream.ts'
import { FLAG, parseQuery, type Query } from '../../src/dns/wire/query.ts'
import { freePort } from '../free-port.ts'
import type { Fixture } from './scenario.ts'

/** The upstream, while it runs. */
export type Upstream = { readonly address: string; readonly close: () => Promise<void> }

const HOST = '127.0.0.1'
/** Flags that come back from the query. */
const ECHOED = FLAG.RD | FLAG.CD
const REFUSED = 5
const UDP_BYTES = 1232

/** What was recorded, by question. */
export type RecordedAnswers = ReadonlyMap<string, Uint8Array | undefined>

/** Indexes what was recorded. */
export function recordedAnswers(fixtures: readonly Fixture[]): RecordedAnswers {
  return new Map(fixtures.map((one) => [keyOf(one), parseHex(one.wire)]))
}

/** Starts it. A question that was not recorded is refused. */
export async function startUpstream(fixtures: readonly Fixture[]): Promise<Upstream> {
  const known = recordedAnswers(fixtures)
  const tcp = createServer((socket) => {
    const stream = new MessageStream((message) => {
      const reply = answerRecorded(known, message, 65_535)
      if (reply === undefined) return
      const framed = new Uint8Array(2)
      writeUint16(framed, 0, reply.length)
      socket.write(concatBytes(framed, reply))
    })
    socket.on('error', () => socket.destroy())
    socket.on('data', (chunk) => {
      if (typeof chunk !== 'string') stream.push(chunk)
    })
  })
  const port = await freePort()
  await new Promise<void>((resolve) => tcp.listen(port, HOST, resolve))
  const udp = createSocket('udp4')
  udp.on('message', (message, peer) => {
    const query = parseQuery(message)
    const bytesMax = query.kind === 'query' ? Math.max(512, query.udpBytes) : 512
    const reply = answerRecorded(known, message, bytesMax)
    if (reply !== undefined) udp.send(reply, peer.port, peer.address)
  })
  await new Promise<void>((resolve) => udp.bind(port, HOST, resolve))
  return {
    address: `${HOST}:${port}`,
    close: async () => {
      await new Promise<void>((resolve) => udp.close(resolve))
      await new Promise<void>((resolve) => tcp.close(() => resolve()))
    },
  }
}

function keyOf({ qname, qtype, qclass }: Omit<Fixture, 'wire'>): string {
  return `${qname.toLowerCase()} ${qtype} ${qclass}`
}

/**
 * Answers a message with what was recorded, REFUSED for what was not; `undefined` for what is no
 * query. A reply over `bytesMax` is cut to its question.
 */
export function answerRecorded(
  known: RecordedAnswers,
  message: Uint8Array,
  bytesMax: number,
): Uint8Array | undefined {
  const query = parseQuery(message)
  if (query.kind === 'refusal') return undefined
  const key = keyOf({
    qname: formatName(lowerName(query.name.subarray(0, query.nameBytes))),
    qtype: formatType(query.type),
    qclass: formatClass(query.class),
  })
  const question = message.subarray(12, query.questionEnd)
  const wire = known.get(key) ?? refusal(question)
  const opt = optRecord(query)
  const isCut = wire.length + opt.length > bytesMax
  const rest = isCut ? new Uint8Array() : wire.subarray(12 + question.length)
  const reply = concatBytes(wire.subarray(0, 12), question, rest, opt)
  const flags = (readUint16(wire, 2) & ~ECHOED) | (query.flags & ECHOED) | (isCut ? FLAG.TC : 0)
  writeUint16(reply, 0, query.id)
  writeUint16(reply, 2, flags)
  if (isCut) for (const at of [6, 8, 10]) writeUint16(reply, at, 0)
  writeUint16(reply, 10, readUint16(reply, 10) + (opt.length > 0 ? 1 : 0))
  return reply
}

function refusal(question: Uint8Array): Uint8Array {
  const wire = new Uint8Array(12 + question.length)
  writeUint16(wire, 2, FLAG.QR | FLAG.RA | REFUSED)
  writeUint16(wire, 4, 1)
  return wire
}

function optRecord({ hasEdns, wantsDnssec }: Query): Uint8Array {
  if (!hasEdns) return new Uint8Array()
  const opt = new Uint8Array(11)
  writeUint16(opt, 1, TYPE.OPT)
  writeUint16(opt, 3, UDP_BYTES)
  writeUint16(opt, 7, wantsDnssec ? 0x8000 : 0)
  return opt
}
