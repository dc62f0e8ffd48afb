/**
 * The quick way through a chain: what its plugins say to it beforehand, made into one function from
 * a query to the octets of its reply. Allocates nothing.
 * @module
 */
import { MESSAGE_BYTES_MAX, UDP_BYTES_ADVERTISED } from '../dns/limits.ts'
import type { Query } from '../dns/query.ts'
import type { ReplyWriter } from '../dns/reply-writer.ts'
import type { Client, Plugin, QuickPart, QuickReply } from '../plugins/plugin.ts'
import { paddingBlock, udpBytesFor } from './reply-bounds.ts'

/** The quick way through one chain. */
export class QuickWay {
  /** Name of the plugin that answers. */
  readonly plugin: string
  private readonly concerns: readonly NonNullable<QuickPart['concerns']>[]
  private readonly prepare: readonly NonNullable<QuickPart['prepare']>[]
  private readonly accepts: readonly NonNullable<QuickPart['accepts']>[]
  private readonly answered: readonly NonNullable<QuickPart['answered']>[]
  private readonly answers: NonNullable<QuickPart['answer']>
  private readonly how: QuickReply = {
    isUdp: true,
    view: undefined,
    bytesMax: MESSAGE_BYTES_MAX,
    udpBytes: UDP_BYTES_ADVERTISED,
    paddingBlock: 0,
    rotation: 0,
    isMinimal: false,
    hasTtlBounds: false,
    answerTtlMin: 0,
    answerTtlMax: 0,
    denialTtlMin: 0,
    denialTtlMax: 0,
    flagsSet: 0,
    flagsCleared: 0,
  }

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
    const { how, prepare, accepts, answered } = this
    how.isUdp = client.transport === 'udp'
    how.view = client.view
    how.bytesMax = how.isUdp ? udpBytesFor(query) : MESSAGE_BYTES_MAX
    how.udpBytes = UDP_BYTES_ADVERTISED
    how.paddingBlock = paddingBlock(client)
    how.rotation = 0
    how.isMinimal = false
    how.hasTtlBounds = false
    how.flagsSet = 0
    how.flagsCleared = 0
    for (let i = 0; i < prepare.length; i++) prepare[i]?.(how, query)
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
