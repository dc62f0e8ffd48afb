/**
 * Attacks with forged upstream responses, each run by `attacker.ts`.
 * @module
 */
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import packet from 'dns-packet'
import type { Datagrams } from './udp-attacks.ts'
import { query } from './wire.ts'

const SERVER_ADDRESS = '127.0.0.1'
const FORGER_ADDRESS = '127.0.0.66'
const RIGHT = '192.0.2.1'
const FORGED = '192.0.2.66'
const FORGED_BYTES = Buffer.from(FORGED.split('.').map(Number))
/** Forged responses with a wrong ID, for each query. */
const WRONG_IDS = 8
/** Delay of the upstream's own response after the forged ones. */
const DELAY_MS = 5

/** Results of the queries. */
export type Forged = {
  readonly asked: number
  readonly answered: number
  /** Responses with the forged address. */
  readonly believed: number
}

/**
 * Answers a server as its upstream, for an attacker that sees each query. Sends forgeries first:
 * from another address, with wrong IDs, with another question, and as queries. The upstream's own
 * response has records of another name, which the attack queries as well.
 */
export async function forge(
  options: Datagrams & { readonly upstreamPort: number; readonly zone: string },
): Promise<Forged> {
  const { port, upstreamPort, count, burst, zone } = options
  const victim = `victim.${zone}`
  const [upstream, forger, client] = [0, 1, 2].map(() => createSocket('udp4'))
  if (!upstream || !forger || !client) throw new Error('no sockets')
  upstream.bind(upstreamPort, SERVER_ADDRESS)
  forger.bind(0, FORGER_ADDRESS)
  client.bind(0, SERVER_ADDRESS)
  await Promise.all([upstream, forger, client].map((socket) => once(socket, 'listening')))
  upstream.on('message', (message, { port: from }) => {
    const id = message.readUInt16BE(0)
    const name = packet.decode(message).questions?.[0]?.name ?? ''
    const believable = reply(id, name, FORGED)
    const asQuery = Buffer.from(believable)
    asQuery.writeUInt8(asQuery.readUInt8(2) & 0x7f, 2)
    const sent = [asQuery, reply(id, `x${name}`, FORGED)]
    for (let i = 1; i <= WRONG_IDS; i++) sent.push(reply((id + i) & 0xffff, name, FORGED))
    forger.send(believable, from, SERVER_ADDRESS)
    for (const one of sent) upstream.send(one, from, SERVER_ADDRESS)
    const own = reply(id, name, RIGHT, name.toLowerCase() === victim ? undefined : victim)
    setTimeout(() => upstream.send(own, from, SERVER_ADDRESS), DELAY_MS)
  })
  const answered = new Set<number>()
  let believed = 0
  client.on('message', (response) => {
    if (response.includes(FORGED_BYTES)) believed++
    if (response.readUInt16BE(6) > 0) answered.add(response.readUInt16BE(0))
  })
  for (let i = 0; i < count; i++) {
    const name = i % 10 === 9 ? victim : `n${i}.${zone}`
    client.send(query({ id: i, name }), port, SERVER_ADDRESS)
    if (i % burst === burst - 1) await sleep(1)
  }
  await sleep(1000)
  for (const socket of [upstream, forger, client]) socket.close()
  return { asked: count, answered: answered.size, believed }
}

/** Returns a response with an address, and records of another name if any. */
function reply(id: number, name: string, data: string, victim?: string): Buffer {
  const address = { type: 'A', name, ttl: 60, data } as const
  const forged = { ...address, name: victim ?? name, data: FORGED } as const
  const extra = victim === undefined ? [] : [forged]
  return packet.encode({
    type: 'response',
    id,
    flags: packet.RECURSION_DESIRED | packet.RECURSION_AVAILABLE,
    questions: [{ type: 'A', name }],
    answers: [address, ...extra],
    authorities: extra.map(() => ({ type: 'NS', name: victim ?? '', data: victim ?? '' })),
    additionals: extra,
  })
}
