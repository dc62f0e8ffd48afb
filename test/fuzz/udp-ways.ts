/**
 * Packets through both ways of a UDP server, batches of system calls and node:dgram: each must get
 * the same response.
 * @module
 */

import assert from 'node:assert/strict'
import { createSocket, type Socket } from 'node:dgram'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readUint16, writeUint16 } from '../../src/dns/bytes/bytes.ts'
import { writeQuery } from '../../src/dns/wire/write-query.ts'
import { Incoming } from '../../src/resolver/chain/incoming.ts'
import type { Resolver } from '../../src/resolver/chain/resolver.ts'
import type { UdpAnswers } from '../../src/server/sockets/answer.ts'
import type { Mmsg } from '../../src/server/sockets/mmsg.ts'
import { UdpServer } from '../../src/server/sockets/udp-server.ts'
import { caseQuery } from '../conformance/case-query.ts'
import { readScenario, writeScenarioFiles } from '../conformance/scenario.ts'
import { createScenarioResolver } from '../conformance/transports.ts'

const ADDRESS = '127.0.0.1'
const SCENARIOS = ['kubernetes-default', 'protocol']
/** Packets that are sent at once: several batches. */
const BURST = 200
/** The last query of a burst has this ID. */
const LAST_ID = 0xffff
const WAIT_MS = 5000
const LONGEST_BYTES = 20_000

type Random = () => number

/** What was sent and compared. */
export type Compared = {
  packets: number
  responses: number
  /** Datagrams that came and went by the system calls. */
  batched: number
}

/** Sends packets to both ways, and compares the responses. */
export async function compareUdpWays(mmsg: Mmsg, count: number, random: Random): Promise<Compared> {
  const total: Compared = { packets: 0, responses: 0, batched: 0 }
  const counting: Mmsg = {
    ...mmsg,
    receive: (fd, headers, most) => {
      const received = mmsg.receive(fd, headers, most)
      total.batched += Math.max(0, received)
      return received
    },
  }
  for (const name of SCENARIOS) {
    const folder = mkdtempSync(join(tmpdir(), 'kubedoh-fuzz-'))
    const scenario = readScenario(name)
    const place = { scenario, ...writeScenarioFiles(scenario, folder) }
    const resolver = await createScenarioResolver(place, { random16: () => 4711 })
    const queries = scenario.cases.map((one) => caseQuery(one, 0))
    try {
      await compareFor(
        resolver,
        { queries, count: count / SCENARIOS.length, random, counting },
        total,
      )
    } finally {
      resolver.stop()
      rmSync(folder, { recursive: true, force: true })
    }
  }
  return total
}

async function compareFor(
  resolver: Resolver,
  options: {
    readonly queries: readonly Uint8Array[]
    readonly count: number
    readonly random: Random
    readonly counting: Mmsg
  },
  total: Compared,
): Promise<void> {
  const { queries, count, random, counting } = options
  const ways = [await Way.open(resolver, counting), await Way.open(resolver, undefined)]
  try {
    for (let sent = 0; sent < count; sent += BURST) {
      const packets = Array.from({ length: BURST }, (_, id) => mutated(queries, id, random))
      const [batched, plain] = await Promise.all(ways.map((way) => way.ask(packets)))
      assert.deepEqual(batched, plain)
      total.packets += packets.length
      total.responses += batched?.size ?? 0
    }
  } finally {
    for (const way of ways) await way.close()
  }
}

/** A server with one of the two ways, and its client. */
class Way {
  private readonly server: UdpServer
  private readonly client: Socket
  private readonly port: number

  private constructor(server: UdpServer, client: Socket, port: number) {
    this.server = server
    this.client = client
    this.port = port
  }

  static async open(resolver: Resolver, mmsg: Mmsg | undefined): Promise<Way> {
    const incoming = new Incoming()
    const [listener] = resolver.listeners
    assert.ok(listener)
    const answers: UdpAnswers = {
      fast: (message, client, writer) =>
        resolver.answerOnFastPath(listener, incoming.read(message, client), writer),
      slow: (message, client) =>
        resolver.answerOnSlowPath(listener, incoming.read(message, client)),
    }
    const server = new UdpServer(ADDRESS, answers, { mmsg })
    const port = await server.listen(ADDRESS, 0)
    const client = createSocket('udp4')
    await new Promise<void>((resolve) => client.bind(0, ADDRESS, resolve))
    client.setRecvBufferSize(4 * 1024 * 1024)
    return new Way(server, client, port)
  }

  /** Sends packets. Resolves with the responses by ID when no more can come. */
  async ask(packets: readonly Uint8Array[]): Promise<ReadonlyMap<number, string>> {
    const { client, port } = this
    const responses = new Map<number, string>()
    const last = new Promise<void>((resolve, reject) => {
      const timer = setTimeout(reject, WAIT_MS, new Error('the server does not answer any more'))
      client.on('message', (response) => {
        const id = readUint16(response, 0)
        responses.set(id, response.toString('hex'))
        if (id !== LAST_ID) return
        clearTimeout(timer)
        resolve()
      })
    })
    for (const packet of packets) client.send(packet, port, ADDRESS)
    client.send(writeQuery({ name: Uint8Array.of(0), type: 1, id: LAST_ID }), port, ADDRESS)
    await last.finally(() => client.removeAllListeners('message'))
    return responses
  }

  async close(): Promise<void> {
    this.client.close()
    await this.server.close()
  }
}

/** Returns a recorded query, mostly with some bytes changed, cut, or with bytes behind it. */
function mutated(queries: readonly Uint8Array[], id: number, random: Random): Uint8Array {
  const below = (count: number): number => Math.floor(random() * count)
  let packet: Uint8Array = (queries[below(queries.length)] ?? new Uint8Array(12)).slice()
  for (let left = below(5); left > 0; left--) packet[below(packet.length)] = below(256)
  const chance = random()
  if (chance < 0.05) packet = packet.slice(0, below(packet.length + 1))
  else if (chance < 0.1) packet = extended(packet, packet.length + below(600), below)
  else if (chance < 0.11) packet = extended(packet, below(LONGEST_BYTES), below)
  if (packet.length >= 2) writeUint16(packet, 0, id)
  return packet
}

function extended(packet: Uint8Array, size: number, below: (count: number) => number): Uint8Array {
  const longer = Uint8Array.from({ length: size }, () => below(256))
  longer.set(packet.subarray(0, size))
  return longer
}
