/**
 * DNS over TLS (RFC 7858) at a gateway: answers what DNS over HTTPS answers, to clients that a
 * token in the server name of their handshake (SNI) or a certificate admits. Others get a response
 * that says why, because clients report a closed connection as a broken network.
 * @module
 */

import { RCODE } from '../../dns/names/rcode.ts'
import { EXTENDED_ERROR, extendedError } from '../../dns/wire/edns.ts'
import { rcodeReply, refusalReply } from '../../dns/wire/refusal.ts'
import { PADDING_BLOCK } from '../../resolver/chain/reply-bounds.ts'
import type { Client } from '../../resolver/contract/client.ts'
import { andThen, type MaybePromise } from '../../resolver/contract/maybe-promise.ts'
import type { Caller, RequestHead } from '../access/caller.ts'
import { tooMany } from '../access/rate-limiter.ts'
import { HttpError } from '../doh/http-error.ts'
import type { KeepAlive } from '../timing/follower.ts'
import type { Gateway } from './gateway.ts'

type Reply = Uint8Array | undefined

/** A connection, as what it has in common with requests: its server name is their host. */
export class TlsHead implements RequestHead {
  readonly method = 'DOT'
  readonly path = ''
  readonly transport = 'tls'
  readonly client: Client
  private readonly name: string | undefined
  /** Returns identities that the runtime has verified: `cert:SHA256`. */
  readonly identities: () => readonly string[]

  /** @param serverName the name in the handshake; `undefined` without one */
  constructor(
    client: Client,
    serverName: string | undefined,
    identities: () => readonly string[] = () => [],
  ) {
    this.client = client
    this.name = serverName
    this.identities = identities
  }

  get address(): string {
    return this.client.address
  }

  get port(): number {
    return this.client.port
  }

  header(name: string): string | undefined {
    return name === 'host' ? this.name : undefined
  }
}

/** DNS over TLS of one gateway. */
export class DirectDot {
  private readonly gateway: Gateway

  constructor(gateway: Gateway) {
    this.gateway = gateway
  }

  /**
   * Answers a message of a connection, which may keep the message; `undefined` for no response.
   * Clients without a valid credential, and over their rate limit, get REFUSED with an extended
   * error (RFC 8914); all get SERVFAIL while tokens cannot be checked. Never rejects.
   */
  answer(message: Uint8Array, head: TlsHead, keepAlive: KeepAlive): MaybePromise<Reply> {
    const admitted = this.gateway.admission.admitAtOnce(head, undefined, undefined)
    if (admitted === undefined) return this.answerLater(message, head, keepAlive)
    const { caller, isWithinRate } = admitted
    return andThen(isWithinRate, (isWithin) =>
      isWithin
        ? this.answerTo(message, { head, caller }, keepAlive)
        : this.refuse(message, head, tooMany()),
    )
  }

  private async answerLater(
    message: Uint8Array,
    head: TlsHead,
    keepAlive: KeepAlive,
  ): Promise<Reply> {
    try {
      const caller = await this.gateway.admission.admitTls(head, keepAlive)
      return await this.answerTo(message, { head, caller }, keepAlive)
    } catch (error) {
      return this.refuse(message, head, error)
    }
  }

  private answerTo(
    message: Uint8Array,
    { head, caller }: { readonly head: TlsHead; readonly caller: Caller },
    keepAlive: KeepAlive,
  ): MaybePromise<Reply> {
    const incoming = this.gateway.read(message, caller)
    return this.gateway.answerFor(incoming, keepAlive, { method: head.method, head, caller })
  }

  private refuse(message: Uint8Array, { client }: TlsHead, error: unknown): Reply {
    const { parsed, query } = this.gateway.read(message, client)
    if (parsed.kind === 'refusal') return refusalReply(query, parsed)
    const status = error instanceof HttpError ? error.status : 500
    const isOurs = status >= 500
    const { NOT_READY, PROHIBITED } = EXTENDED_ERROR
    const why = extendedError(isOurs ? NOT_READY : PROHIBITED, textOf(status))
    return rcodeReply(query, isOurs ? RCODE.SERVFAIL : RCODE.REFUSED, [why], PADDING_BLOCK)
  }
}

/** Returns the reason for a client, without any part of its server name. */
function textOf(status: number): string {
  if (status === 429) return 'too many requests; slow down'
  if (status >= 500) return 'tokens cannot be checked at the moment'
  return 'no valid token in the TLS server name, and no known certificate'
}
