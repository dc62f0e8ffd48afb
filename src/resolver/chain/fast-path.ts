/**
 * The fast path through a chain: combines the parts of its plugins into one function from a query
 * to the bytes of its response. Allocates nothing.
 * @module
 */
import { MESSAGE_BYTES_MAX, UDP_BYTES_ADVERTISED } from '../../dns/names/limits.ts'
import type { Query } from '../../dns/wire/query.ts'
import type { ReplyWriter } from '../../dns/wire/reply-writer.ts'
import type { Client } from '../contract/client.ts'
import type { FastPathPart, FastReplyOptions } from '../contract/fast-path-part.ts'
import type { Plugin } from '../contract/plugin.ts'
import { bytesFor, paddingBlock, udpBytesFor } from './reply-bounds.ts'

/** The fast path through one chain. */
export class FastPath {
  /** The plugin that answers. */
  readonly plugin: string
  private readonly slowPathChecks: readonly NonNullable<FastPathPart['needsSlowPath']>[]
  private readonly prepare: readonly NonNullable<FastPathPart['prepare']>[]
  private readonly accepts: readonly NonNullable<FastPathPart['accepts']>[]
  private readonly answered: readonly NonNullable<FastPathPart['answered']>[]
  private readonly answers: NonNullable<FastPathPart['answer']>
  /** Options that all responses share, before clients and queries change them. */
  private readonly defaults: FastReplyOptions = defaultOptions()
  private readonly options: FastReplyOptions = defaultOptions()

  /** @param parts of the plugins before the answering one */
  constructor(
    plugin: string,
    parts: readonly FastPathPart[],
    answers: NonNullable<FastPathPart['answer']>,
  ) {
    this.plugin = plugin
    this.answers = answers
    this.slowPathChecks = parts.flatMap(({ needsSlowPath }) => needsSlowPath ?? [])
    this.prepare = parts.flatMap(({ prepare }) => prepare ?? [])
    this.accepts = parts.flatMap(({ accepts }) => accepts ?? [])
    this.answered = parts.flatMap(({ answered }) => answered ?? [])
    for (const { configure } of parts) configure?.(this.defaults)
    Object.assign(this.options, this.defaults)
  }

  /** Whether a plugin before the answering one must see the request. */
  needsSlowPath(query: Query, client: Client): boolean {
    const { slowPathChecks } = this
    for (let i = 0; i < slowPathChecks.length; i++) {
      if (slowPathChecks[i]?.(query, client) === true) return true
    }
    return false
  }

  /** Writes the response and returns its size; 0 when the query must take the slow path. */
  answer(query: Query, client: Client, reply: ReplyWriter): number {
    // The fast path writes no EDNS options, and NSID is one.
    if (query.wantsNsid || query.isOptOdd) return 0
    if (this.needsSlowPath(query, client)) return 0
    const { options, accepts, answered } = this
    const isUdp = client.transport === 'udp'
    options.isUdp = isUdp
    options.visibility = client.visibility
    options.bytesMax = isUdp ? udpBytesFor(query) : bytesFor(query, client)
    options.paddingBlock = isUdp ? 0 : paddingBlock(client)
    if (this.prepare.length > 0) this.prepareFor(query)
    const size = this.answers(query, reply, options)
    if (size === 0) return 0
    const { flagsSet, flagsCleared } = options
    if ((flagsSet | flagsCleared) !== 0) reply.changeFlags(flagsSet, flagsCleared)
    const { bytes } = reply
    for (let i = 0; i < accepts.length; i++) {
      if (accepts[i]?.(query, client, bytes) === false) return 0
    }
    for (let i = 0; i < answered.length; i++) answered[i]?.(query)
    return size
  }

  /** Resets the options of the last response, and lets plugins set those of this one. */
  private prepareFor(query: Query): void {
    const { options, defaults, prepare } = this
    options.udpBytes = defaults.udpBytes
    options.rotation = defaults.rotation
    options.isMinimal = defaults.isMinimal
    options.hasTtlBounds = defaults.hasTtlBounds
    options.answerTtlMin = defaults.answerTtlMin
    options.answerTtlMax = defaults.answerTtlMax
    options.negativeTtlMin = defaults.negativeTtlMin
    options.negativeTtlMax = defaults.negativeTtlMax
    options.flagsSet = defaults.flagsSet
    options.flagsCleared = defaults.flagsCleared
    for (let i = 0; i < prepare.length; i++) prepare[i]?.(options, query)
  }
}

function defaultOptions(): FastReplyOptions {
  return {
    isUdp: true,
    visibility: undefined,
    bytesMax: MESSAGE_BYTES_MAX,
    udpBytes: UDP_BYTES_ADVERTISED,
    paddingBlock: 0,
    rotation: undefined,
    isMinimal: false,
    hasTtlBounds: false,
    answerTtlMin: 0,
    answerTtlMax: 0,
    negativeTtlMin: 0,
    negativeTtlMax: 0,
    flagsSet: 0,
    flagsCleared: 0,
  }
}

/** Compiles the fast path; `undefined` if a plugin before the answering one has no part in it. */
export function compileFastPath(plugins: readonly Plugin[]): FastPath | undefined {
  const parts: FastPathPart[] = []
  const last = plugins.findLast(({ fastPath }) => fastPath?.answer !== undefined)
  for (const plugin of plugins) {
    const { name, serve, fastPath } = plugin
    if (serve === undefined) continue
    if (fastPath === undefined) return undefined
    const { answer, needsSlowPath } = fastPath
    const answers = plugin === last || needsSlowPath === undefined
    if (answer !== undefined && answers) return new FastPath(name, parts, answer)
    parts.push(fastPath)
  }
  return undefined
}
