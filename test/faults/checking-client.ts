/**
 * A client in its own process, which queries a server at a steady rate by UDP and TCP and compares
 * every response with the expected ones: `checking-client.ts LOAD`, with the load as JSON.
 * @module
 */
import { createSocket, type Socket } from 'node:dgram'
import { connect } from 'node:net'
import { frame, query } from '../attack/wire.ts'
import { outcomeOf } from './outcome.ts'

/** A query to repeat. */
export type CheckedQuery = {
  /** Group of queries that are counted together. */
  readonly group: string
  /** The query name; `#` becomes a new number each time, so that no cache has the response. */
  readonly name: string
  /** Right outcomes, as `outcomeOf` returns them. */
  readonly expected: readonly string[]
}

/** What to send where. */
export type CheckedLoad = {
  readonly port: number
  readonly perSecond: number
  /** New TCP connections a second, with one query each. */
  readonly tcpPerSecond: number
  readonly queries: readonly CheckedQuery[]
  /**
   * Address to query as a stub resolver does, each time from a new port, and again from that port
   * when there is no response: resolv.conf(5) has two attempts by default. Without it, the load
   * queries the loopback address once.
   */
  readonly stubOf?: string
}

/** Outcomes of the queries of one group that were sent in one phase. */
export type Counts = {
  right: number
  /** Those of the right ones that came after a second attempt. */
  late: number
  /** Responses that admit a failure: SERVFAIL or REFUSED. */
  failed: number
  /** Queries without a response in the time that a stub resolver waits. */
  lost: number
  wrong: number
  /** Some failed, lost and wrong ones. */
  readonly examples: string[]
}

/**
 * A message of the parent: a new phase, with other queries if there are any, a pause, or the
 * end.
 */
export type Order =
  | { readonly phase: string; readonly queries?: readonly CheckedQuery[] }
  | { readonly phase?: undefined; readonly isEnd: boolean }

/** Counts by phase, then by group. */
export type Tally = Readonly<Record<string, Readonly<Record<string, Counts>>>>

type Attempt = {
  readonly number: number
  readonly message: Buffer
  /** Notes a second attempt. */
  readonly again: () => void
}

type Waiting = { readonly resolve: (response: Buffer) => void }

/** How long a stub resolver waits for a response (resolv.conf(5)). */
const PATIENCE_MS = 5000
const SOCKETS = 8
const TICK_MS = 5
/** Queries at a time, after which a client that could not run gives up the rest. */
const BURST_MAX = 20
/** Examples of each outcome. */
const EXAMPLES_MAX = 5

class CheckingClient {
  private readonly load: CheckedLoad
  private readonly server: string
  private readonly waiting: Map<number, Waiting>[] = []
  private readonly sockets: Socket[] = []
  private readonly pending = new Set<Promise<void>>()
  private readonly tally: Record<string, Record<string, Counts>> = {}
  private queries: readonly CheckedQuery[]
  private phase = ''
  private isPaused = true
  private lastMs = performance.now()
  private readonly due = { udp: 0, tcp: 0 }
  private readonly sent = { udp: 0, tcp: 0, names: 0 }

  constructor(load: CheckedLoad) {
    this.load = load
    this.server = load.stubOf ?? '127.0.0.1'
    this.queries = load.queries
    for (let i = 0; i < SOCKETS; i++) this.openSocket()
  }

  /**
   * Sends queries in all phases; answers a pause when no query waits, and the end with the
   * counts.
   */
  run(): void {
    setInterval(() => this.tick(), TICK_MS)
    process.on('message', (order: Order) => {
      const { phase } = order
      if (phase !== undefined) {
        this.phase = phase
        this.queries = order.queries ?? this.queries
        this.isPaused = false
        return
      }
      this.isPaused = true
      const { isEnd } = order
      void Promise.all(this.pending).then(() => process.send?.(isEnd ? this.tally : {}))
    })
    process.on('disconnect', () => process.exit())
    process.send?.({})
  }

  private tick(): void {
    const now = performance.now()
    const seconds = (now - this.lastMs) / 1000
    this.lastMs = now
    if (this.isPaused) return
    const { perSecond, tcpPerSecond } = this.load
    this.due.udp = Math.min(BURST_MAX, this.due.udp + seconds * perSecond)
    this.due.tcp = Math.min(BURST_MAX, this.due.tcp + seconds * tcpPerSecond)
    for (const transport of ['udp', 'tcp'] as const) {
      for (; this.due[transport] >= 1; this.due[transport]--) this.ask(transport)
    }
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
    const { stubOf } = this.load
    const id = (stubOf === undefined ? Math.floor(number / SOCKETS) : number) & 0xffff
    const message = query({ id, name })
    const { phase } = this
    let isLate = false
    const again = (): void => {
      isLate = true
    }
    const counted = this.askOver(transport, { number, message, again }).then((response) => {
      const outcome = response === undefined ? 'lost' : outcomeOf(response, name, transport)
      const counts = this.count(phase, asked, `${transport} ${name}: ${outcome}`, outcome)
      if (isLate && asked.expected.includes(outcome)) counts.late++
      this.pending.delete(counted)
    })
    this.pending.add(counted)
  }

  private async askOver(transport: 'udp' | 'tcp', one: Attempt): Promise<Buffer | undefined> {
    const { number, message, again } = one
    const isStub = this.load.stubOf !== undefined
    if (transport === 'udp')
      return isStub ? this.askFromNewPort(message, again) : this.askUdp(number, message)
    const response = await this.askTcp(message)
    if (response !== undefined || !isStub) return response
    again()
    await new Promise((wait) => setTimeout(wait, PATIENCE_MS))
    return this.askTcp(message)
  }

  private askFromNewPort(message: Buffer, again: () => void): Promise<Buffer | undefined> {
    return new Promise((resolve) => {
      const socket = createSocket('udp4')
      const send = (): void => socket.send(message, this.load.port, this.server, () => undefined)
      const end = (response: Buffer | undefined): void => {
        clearTimeout(timer)
        socket.close()
        resolve(response)
      }
      let timer = setTimeout(() => {
        again()
        send()
        timer = setTimeout(end, PATIENCE_MS, undefined)
      }, PATIENCE_MS)
      // Another ID is the late response to a query that had this port before.
      socket.on('message', (response) => {
        if (response.subarray(0, 2).equals(message.subarray(0, 2))) end(response)
      })
      socket.on('error', () => undefined)
      send()
    })
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
      this.sockets[i]?.send(message, this.load.port, this.server, () => undefined)
    })
  }

  private askTcp(message: Buffer): Promise<Buffer | undefined> {
    return new Promise((resolve) => {
      const socket = connect({ host: this.server, port: this.load.port })
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

  private count(phase: string, asked: CheckedQuery, example: string, outcome: string): Counts {
    this.tally[phase] ??= {}
    const groups = this.tally[phase]
    const none = { right: 0, late: 0, failed: 0, lost: 0, wrong: 0, examples: [] }
    const counts = groups[asked.group] ?? none
    groups[asked.group] = counts
    if (asked.expected.includes(outcome)) {
      counts.right++
      return counts
    }
    const kind = kindOf(outcome)
    counts[kind]++
    if (counts[kind] <= EXAMPLES_MAX) counts.examples.push(example)
    return counts
  }
}

function kindOf(outcome: string): 'failed' | 'lost' | 'wrong' {
  if (outcome === 'lost') return 'lost'
  return outcome === 'SERVFAIL' || outcome === 'REFUSED' ? 'failed' : 'wrong'
}

new CheckingClient(JSON.parse(process.argv[2] ?? '{}')).run()
