/**
 * How long the UDP server takes from its socket's event to its socket's `send`, beside CoreDNS's
 * plugin and dns-packet: rounds of all of them in turn, medians.
 * @module
 */
import packet from 'dns-packet'
import { apiObjects } from './cluster-objects.ts'
import { CoreDnsPlugin } from './coredns-plugin.ts'
import {
  GeneratedCluster,
  GeneratedServer,
  type Questions,
  questionsTo,
} from './generated-server.ts'
import { allocatedBy } from './heap.ts'
import { median, type Row, ratioRow, row } from './row.ts'
import { passDatagrams } from './udp-handler.ts'

const SERVICES = 10_000
/** Services that make a million records. */
const SERVICES_LARGE = 28_000
const QUESTIONS = 8192
const HOT = 16
const GARBAGE_QUERIES = 10_000_000
const SOCKET_DATAGRAMS = 200
const RESPONSE_BYTES = 100
const ROUNDS = 7
const WARM_ROUNDS = 4
const LEAST_MS = 200

/** Measures. */
export async function benchCore(): Promise<Row[]> {
  const server = await GeneratedServer.start(new GeneratedCluster(SERVICES))
  const questions = questionsTo(server.services, QUESTIONS)
  const plugin = await CoreDnsPlugin.start(apiObjects(server.services), questions)
  const measured = questions.map(() => ({
    ours: [] as number[],
    hot: [] as number[],
    peer: [] as number[],
  }))
  for (let round = -WARM_ROUNDS; round < ROUNDS; round++) {
    for (const [i, { messages }] of questions.entries()) {
      const times = {
        ours: server.measure(messages, LEAST_MS),
        hot: server.measure(messages.slice(0, HOT), LEAST_MS / 4),
        peer: (await plugin?.measure(i)) ?? Number.NaN,
      }
      // The first rounds only warm up, as the compilers of both take their time.
      if (round < 0) continue
      for (const key of ['ours', 'hot', 'peer'] as const) measured[i]?.[key].push(times[key])
    }
  }
  await plugin?.stop()
  const results = questions.map(({ kind }, i) => {
    const { ours = [], hot = [], peer = [] } = measured[i] ?? {}
    return { kind, ours: median(ours), hot: median(hot), peer: median(peer) }
  })
  const rows = [
    ...results.map(({ kind, ours, peer }) => peerRow(`${kind}, random names`, ours, peer, 6)),
    peerRow(
      `geometric mean, ${SERVICES} Services, ${server.records} records`,
      mean(results.map((one) => one.ours)),
      mean(results.map((one) => one.peer)),
      10,
    ),
    ...results.map(({ kind, hot }) => row('core', `${kind}, hot names`, 'ns', hot)),
    row('core', 'A, random names, goal', 'ns', results[0]?.ours ?? Number.NaN, { atMost: 1000 }),
    await garbageRow(server, questions),
    await socketRow(),
    packetRow(questions, results[0]?.ours ?? Number.NaN),
    ...(await scaleRows(
      results.map(({ ours }) => ours),
      questions,
    )),
  ]
  await server.stop()
  return rows
}

function peerRow(metric: string, ours: number, peer: number, least: number): Row {
  const base = { bench: 'core', metric, unit: 'ns' }
  if (Number.isNaN(peer)) return { ...base, ours }
  return ratioRow(base, ours, { name: "CoreDNS's plugin", value: peer }, { atLeast: least })
}

/** What the socket takes beside our part. A round is short, so that most see no collection. */
async function socketRow(): Promise<Row> {
  const perQuery: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const pass = (): Promise<void> => passDatagrams(SOCKET_DATAGRAMS, RESPONSE_BYTES)
    perQuery.push((await allocatedBy(pass)).bytes / SOCKET_DATAGRAMS)
  }
  const metric = 'heap that node:dgram itself takes a query: message, sender, send'
  return row('core', metric, 'B', median(perQuery))
}

/** All kinds of questions, ten million of them. */
async function garbageRow(server: GeneratedServer, questions: readonly Questions[]): Promise<Row> {
  const rounds = Math.ceil(GARBAGE_QUERIES / (QUESTIONS * questions.length))
  const { bytes, collections } = await allocatedBy(() => {
    for (let round = 0; round < rounds; round++) {
      for (const { messages } of questions) server.answerAll(messages)
    }
  })
  const perQuery = Math.max(0, bytes) / (rounds * QUESTIONS * questions.length)
  const metric = `garbage a query, of 10,000,000; ${collections} collections`
  return row('core', metric, 'B', perQuery, { atMost: 1 })
}

/** The same questions at a million records: cache misses are all that it may cost. */
async function scaleRows(
  small: readonly number[],
  questions: readonly Questions[],
): Promise<Row[]> {
  const server = await GeneratedServer.start(new GeneratedCluster(SERVICES_LARGE))
  const large = questionsTo(server.services, QUESTIONS)
  const rows = large.map(({ kind, messages }, i) => {
    server.measure(messages, LEAST_MS)
    const times = Array.from({ length: ROUNDS }, () => server.measure(messages, LEAST_MS))
    const metric = `${kind} at ${server.records} records`
    const peer = {
      name: `at ${questions[i]?.kind === kind ? SERVICES : 0} Services`,
      value: small[i] ?? Number.NaN,
    }
    return ratioRow({ bench: 'core', metric, unit: 'ns' }, median(times), peer, { atLeast: 0.5 })
  })
  await server.stop()
  return rows
}

/** What the usual library takes to read the query and write the reply, with no look-up between. */
function packetRow([questions]: readonly Questions[], ours: number): Row {
  const messages = (questions?.messages ?? []).slice(0, 256).map((message) => Buffer.from(message))
  const times = Array.from({ length: ROUNDS }, () => {
    const startMs = performance.now()
    let count = 0
    while (performance.now() - startMs < LEAST_MS) {
      for (const message of messages) {
        const query = packet.decode(message)
        const name = query.questions?.[0]?.name ?? ''
        const answers = [{ type: 'A' as const, name, ttl: 30, data: '192.0.2.1' }]
        packet.encode({
          type: 'response',
          id: query.id ?? 0,
          questions: query.questions ?? [],
          answers,
        })
      }
      count += messages.length
    }
    return ((performance.now() - startMs) * 1e6) / count
  })
  const base = { bench: 'core', metric: 'A, decode and encode only', unit: 'ns' }
  return ratioRow(base, ours, { name: 'dns-packet', value: median(times) })
}

function mean(values: readonly number[]): number {
  return Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length)
}
