/**
 * A client in its own process, which queries a server at a steady rate by UDP and TCP and compares
 * every response with the expected ones: `checking-client.ts LOAD`, with the load as JSON.
 * @module
 */
import { createSocket, type Socket } from 'node:dgram'
import { connect } from 'node:net'
import packet from 'dns-packet'
import { frame, query } from '../attack/wire.ts'

/** A query to repeat. */
export type CheckedQuery = {
  /** Group of queries that are counted together. */
  readonly group: string
  /** The query name; `#` becomes a new number each time, so that no cache has the response. */
  readonly name: string
  /**
   * Right outcomes: `NXDOMAIN`, `NODATA`, `truncated over udp`, or IPv4 addresses, sorted as text,
   * with spaces between.
   */
  readonly expected: readonly string[]
}

/** What to send where. */
export type CheckedLoad = {
  readonly port: number
  readonly perSecond: number
  /** New TCP connections a second, with one query each. */
  readonly tcpPerSecond: number
  readonly queries: readonly CheckedQuery[]
}

/** Outcomes of the queries of one group that were sent in one phase. */
export type Counts = {
  right: number
  /** Responses that admit a failure: SERVFAIL or REFUSED. */
  failed: number
  /** Queries without a response in the time that a stub resolver waits. */
  lost: number
  wrong: number
  /** Some failed, lost and wrong ones. */
  readonly examples: string[]
}

/** A message of the parent: a new phase, with other queries if there are any, or the end. */
export type Order =
  | { readonly phase: string; readonly queries?: readonly CheckedQuery[] }
  | { readonly phase?: undefined }

/** Counts by phase, then by group. */
export type Tally = Readonly<Record<string, Readonly<Record<string, Counts>>>>

type Waiting = { readonly resolve: (response: Buffer) => void }

const SERVER = '127.0.0.1'
/** How long a stub resolver waits for a response (resolv.conf(5)). */
const PATIENCE_MS = 5000
const SOCKETS = 8
const TICK_MS = 5
const EXAMPLES_MAX = 5

class CheckingClient {
  private readonly load: CheckedLoad
  private readonly waiting: Map<number, Waiting>[] = []
  private readonly sockets: Socket[] = []
  private readonly pending = new Set<Promise<void>>()
  private readonly tally: Record<string, Record<string, Counts>> = {}
  private queries: readonly CheckedQuery[]
  private phase = 'start'
  private readonly sent = { udp: 0, tcp: 0, names: 0 }

  constructor(load: CheckedLoad) {
    this.load = load
    this.queries = load.queries
    for (let i = 0; i < SOCKETS; i++) this.openSocket()
  }

  /** Sends queries until the parent's last order. */
  run(): void {
    const startMs = performance.now()
    const { perSecond, tcpPerSecond } = this.load
    const timer = setInterval(() => {
      const seconds = (performance.now() - startMs) / 1000
      while (this.sent.udp < seconds * perSecond) this.ask('udp')
      while (this.sent.tcp < seconds * tcpPerSecond) this.ask('tcp')
    }, TICK_MS)
    process.on('message', (order: Order) => {
      if (order.phase !== undefined) {
        this.phase = order.phase
        this.queries = order.queries ?? this.queries
        return
      }
      clearInterval(timer)
      void Promise.all(this.pending).then(() => process.send?.(this.tally))
    })
    process.on('disconnect', () => process.exit())
  }

  private openSocket(): void {
    const waiting = new Map<number, Waiting>()
    const socket = createSocket('udp4')
    socket.on('message', (response) => {
      if (response.length >= 2) waiting.get(response.readUInt16BE(0))?.resolve(response)
    })
    // A port that nothing listens on: the query counts as lost.
    socket.on('error', () => undefined)
    this.waiting.push(waiting)
    this.sockets.push(socket)
  }

  private ask(transport: 'udp' | 'tcp'): void {
    const number = this.sent[transport]++
    const asked = this.queries[number % this.queries.length]
    if (asked === undefined) return
    const name = asked.name.replace('#', String(this.sent.names++))
    const id = Math.floor(number / SOCKETS) & 0xffff
    const message = query({ id, name })
    const { phase } = this
    const answered = transport === 'udp' ? this.askUdp(number, message) : this.askTcp(message)
    const counted = answered.then((response) => {
      const outcome = response === undefined ? 'lost' : outcomeOf(response, name, transport)
      this.count(phase, asked, `${transport} ${name}: ${outcome}`, outcome)
      this.pending.delete(counted)
    })
    this.pending.add(counted)
  }

  private askUdp(number: number, message: Buffer): Promise<Buffer | undefined> {
    const i = number % SOCKETS
    const id = message.readUInt16BE(0)
    return new Promise((resolve) => {
      const end = (response: Buffer | undefined): void => {
        clearTimeout(timer)
        this.waiting[i]?.delete(id)
        resolve(response)
      }
      const timer = setTimeout(end, PATIENCE_MS, undefined)
      this.waiting[i]?.set(id, { resolve: end })
      this.sockets[i]?.send(message, this.load.port, SERVER, () => undefined)
    })
  }

  private askTcp(message: Buffer): Promise<Buffer | undefined> {
    return new Promise((resolve) => {
      const socket = connect({ host: SERVER, port: this.load.port })
      const timer = setTimeout(() => socket.destroy(), PATIENCE_MS)
      let received = Buffer.alloc(0)
      socket.on('data', (chunk: Buffer) => {
        received = Buffer.concat([received, chunk])
        if (received.length < 2 || received.length < 2 + received.readUInt16BE(0)) return
        resolve(received.subarray(2))
        socket.destroy()
      })
      socket.on('error', () => undefined)
      socket.on('close', () => {
        clearTimeout(timer)
        resolve(undefined)
      })
      socket.write(frame(message))
    })
  }

  private count(phase: string, asked: CheckedQuery, example: string, outcome: string): void {
    this.tally[phase] ??= {}
    const groups = this.tally[phase]
    groups[asked.group] ??= { right: 0, failed: 0, lost: 0, wrong: 0, examples: [] }
    const counts = groups[asked.group]
    if (counts === undefined) return
    if (asked.expected.includes(outcome)) {
      counts.right++
      return
    }
    if (outcome === 'lost') counts.lost++
    else if (outcome === 'SERVFAIL' || outcome === 'REFUSED') counts.failed++
    else counts.wrong++
    if (counts.examples.length < EXAMPLES_MAX) counts.examples.push(example)
  }
}

/** Returns the outcome of a query in the form of `CheckedQuery.expected`. */
function outcomeOf(response: Buffer, name: string, transport: 'udp' | 'tcp'): string {
  try {
    // Decoded messages have the RCODE as text, which their type lacks.
    const decoded: packet.DecodedPacket & { readonly rcode?: string } = packet.decode(response)
    const { questions = [], answers = [], flag_tc, rcode = 'no RCODE' } = decoded
    if (questions[0]?.name.toLowerCase() !== name) return 'another question'
    if (rcode !== 'NOERROR') return rcode
    if (flag_tc) return `truncated over ${transport}`
    const addresses = answers.map((one) =>
      one.type === 'A' && one.name.toLowerCase() === name ? one.data : `a ${one.type} record`,
    )
    return addresses.length === 0 ? 'NODATA' : addresses.sort().join(' ')
  } catch {
    return 'malformed'
  }
}

new CheckingClient(JSON.parse(process.argv[2] ?? '{}')).run()
