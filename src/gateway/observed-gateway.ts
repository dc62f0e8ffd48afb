/**
 * A gateway that tells of each message it has answered, for whoever counts them; never of who
 * asked, and of the name that was asked for only where that is wanted.
 * @module
 */
import { byteAt } from '../bytes/bytes.ts'
import type { Incoming } from '../chain/incoming.ts'
import { andThen, type MaybePromise } from '../chain/plugin.ts'
import { formatName } from '../dns/name.ts'
import type { Query, Refusal } from '../dns/query.ts'
import { formatRcode } from '../dns/rcode.ts'
import { formatType } from '../dns/rr-type.ts'
import type { GatewayConfig } from './config.ts'
import { Gateway, type GatewayRuntime, type KeepAlive } from './gateway.ts'

/** What is told of an answer. */
export type Answered = {
  /** Whose names the zone has, with spaces between; '' outside of all clusters' zones. */
  readonly clusters: string
  /**
   * The response code; the type that was asked for, '' where the message is no well-formed query;
   * `GET`, `HEAD`, `POST` or, for the API of that name, `JSON`; how fresh each cluster's names are:
   * `fresh`, `stale`, `expired`; the name that was asked for, in lower case, where that is wanted.
   */
  readonly words: string[]
  /**
   * Milliseconds by the runtime's clock, which on Workers stands still but for reads and requests
   * elsewhere; bytes of the reply.
   */
  readonly numbers: number[]
}

/** What is wanted. */
export type ObserverOptions = {
  readonly tell: (answered: Answered) => void
  readonly wantsNames: boolean
}

/** Tells of answers. What goes wrong in it is logged, and changes no answer. */
export class ObservedGateway extends Gateway {
  private readonly host: GatewayRuntime['host']
  private readonly options: ObserverOptions

  /** @throws {GatewayConfigError} as {@link Gateway} does */
  constructor(config: GatewayConfig, runtime: GatewayRuntime, options: ObserverOptions) {
    super(config, runtime)
    this.host = runtime.host
    this.options = options
  }

  /** As a {@link Gateway} does. */
  override answerFor(
    incoming: Incoming,
    keepAlive: KeepAlive,
    method: string,
  ): MaybePromise<Uint8Array | undefined> {
    const { elapsed, log } = this.host
    const startMs = elapsed()
    const { parsed } = incoming
    return andThen(super.answerFor(incoming, keepAlive, method), (reply) => {
      try {
        if (reply !== undefined) this.observe(parsed, reply, { method, ms: elapsed() - startMs })
      } catch (error) {
        log({ level: 'error', message: 'cannot count an answer', error: String(error) })
      }
      return reply
    })
  }

  private observe(
    query: Query | Refusal,
    reply: Uint8Array,
    { method, ms }: { readonly method: string; readonly ms: number },
  ): void {
    const isQuery = query.kind === 'query'
    // Of one cluster there may be several trees, of which it need not publish all.
    const ages = new Map<string, string>()
    for (const { cluster, reader } of this.zoneOf(query)?.parts ?? []) {
      const freshness = reader.freshness()
      if (freshness !== 'expired' || !ages.has(cluster)) ages.set(cluster, freshness)
    }
    // Of more than four bits there is only what a refusal has (RFC 6891 §6.1.3).
    const rcode = (isQuery ? undefined : query.rcode) ?? byteAt(reply, 3) & 15
    const words = [
      formatRcode(rcode),
      isQuery ? formatType(query.type) : '',
      method,
      [...ages.values()].join(' '),
    ]
    const { tell, wantsNames } = this.options
    if (isQuery && wantsNames) words.push(formatName(query.name.subarray(0, query.nameBytes)))
    tell({ clusters: [...ages.keys()].join(' '), words, numbers: [ms, reply.length] })
  }
}
