/**
 * The quick way through a chain: what its plugins say to it beforehand, made into one function from
 * a query to the bytes of its reply. Allocates nothing.
 * @module
 */
import { MESSAGE_BYTES_MAX, UDP_BYTES_ADVERTISED } from '../dns/limits.ts'
import type { Query } from '../dns/query.ts'
import type { ReplyWriter } from '../dns/reply-writer.ts'
import type { Client, Plugin, QuickPart, QuickReply } from './plugin.ts'
import { bytesFor, paddingBlock, udpBytesFor } from './reply-bounds.ts'

// Constants of this module are a part of the compiled code (dns/query.ts).
const BYTES_MAX = MESSAGE_BYTES_MAX
const ADVERTISED = UDP_BYTES_ADVERTISED
const udpBytesTo = udpBytesFor
const bytesTo = bytesFor
const paddingTo = paddingBlock

/** The quick way through one chain. */
export class QuickWay {
  /** Name of the plugin that answers. */
  readonly plugin: string
  private readonly concerns: readonly NonNullable<QuickPart['concerns']>[]
  private readonly prepare: readonly NonNullable<QuickPart['prepare']>[]
  private readonly accepts: readonly NonNullable<QuickPart['accepts']>[]
  private readonly answered: readonly NonNullable<QuickPart['answered']>[]
  private readonly answers: NonNullable<QuickPart['answer']>
  /** What all replies are like, as far as no client and no query change it. */
  private readonly usual: QuickReply = usualReply()
  private readonly how: QuickReply = usualReply()

  /** @param parts of the plugins before the one that answers */
  constructor(
    plugin: string,
    parts: readonly QuickPart[],
    answers: NonNullable<QuickPart['answer']>,
  ) {
    this.plugin = plugin
    this.answers = answers
    this.concerns = parts.flatMap(({ concerns }) => concerns ?? [])
    this.prepare = parts.flatMap(({ prepare }) => prepare ?? [])
    this.accepts = parts.flatMap(({ accepts }) => accepts ?? [])
    this.answered = parts.flatMap(({ answered }) => answered ?? [])
    for (const { always } of parts) always?.(this.usual)
    Object.assign(this.how, this.usual)
  }

  /** Whether a plugin before the one that answers has to see a query itself. */
  isConcerned(query: Query, client: Client): boolean {
    const { concerns } = this
    for (let i = 0; i < concerns.length; i++) {
      if (concerns[i]?.(query, client) === true) return true
    }
    return false
  }

  /** Writes the reply to a query and returns its size; 0 when it has to take the long way. */
  answer(query: Query, client: Client, reply: ReplyWriter): number {
    // Who we are is told by an option, and options are for the long way.
    if (query.wantsNsid || query.isOptOdd) return 0
    if (this.isConcerned(query, client)) return 0
    const { how, accepts, answered } = this
    const isUdp = client.transport === 'udp'
    how.isUdp = isUdp
    how.view = client.view
    how.bytesMax = isUdp ? udpBytesTo(query) : bytesTo(query, client)
    how.paddingBlock = isUdp ? 0 : paddingTo(client)
    if (this.prepare.length > 0) this.prepareFor(query)
    const size = this.answers(query, reply, how)
    if (size === 0) return 0
    const { flagsSet, flagsCleared } = how
    if ((flagsSet | flagsCleared) !== 0) reply.changeFlags(flagsSet, flagsCleared)
    const { bytes } = reply
    for (let i = 0; i < accepts.length; i++) {
      if (accepts[i]?.(query, client, bytes) === false) return 0
    }
    for (let i = 0; i < answered.length; i++) answered[i]?.(query)
    return size
  }

  /** Has plugins say what the reply to a query is to be like, whatever they said of the last. */
  private prepareFor(query: Query): void {
    const { how, usual, prepare } = this
    how.udpBytes = usual.udpBytes
    how.rotation = usual.rotation
    how.isMinimal = usual.isMinimal
    how.hasTtlBounds = usual.hasTtlBounds
    how.answerTtlMin = usual.answerTtlMin
    how.answerTtlMax = usual.answerTtlMax
    how.denialTtlMin = usual.denialTtlMin
    how.denialTtlMax = usual.denialTtlMax
    how.flagsSet = usual.flagsSet
    how.flagsCleared = usual.flagsCleared
    for (let i = 0; i < prepare.length; i++) prepare[i]?.(how, query)
  }
}

function usualReply(): QuickReply {
  return {
    isUdp: true,
    view: undefined,
    bytesMax: BYTES_MAX,
    udpBytes: ADVERTISED,
    paddingBlock: 0,
    rotation: undefined,
    isMinimal: false,
    hasTtlBounds: false,
    answerTtlMin: 0,
    answerTtlMax: 0,
    denialTtlMin: 0,
    denialTtlMax: 0,
    flagsSet: 0,
    flagsCleared: 0,
  }
}

/** Makes the quick way through plugins in the order in which they act; `undefined` without one. */
export function compileQuickWay(plugins: readonly Plugin[]): QuickWay | undefined {
  const parts: QuickPart[] = []
  for (const { name, serve, quick } of plugins) {
    if (serve === undefined) continue
    if (quick === undefined) return undefined
    if (quick.answer !== undefined) return new QuickWay(name, parts, quick.answer)
    parts.push(quick)
  }
  return undefined
}
