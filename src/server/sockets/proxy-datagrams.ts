/**
 * Takes PROXY headers off datagrams, of which each has its own, as CoreDNS does
 * (plugin/pkg/proxyproto). Responses go to the load balancer, without a header: sockets know only
 * that.
 * @module
 */

import { readProxyHeader } from '../../dns/wire/proxy-header.ts'
import type { Client } from '../../resolver/contract/client.ts'
import type { ProxyHeaders } from '../../resolver/contract/feature.ts'
import type { UdpAnswers } from './answer.ts'

/** The client of a datagram. */
type Source = Pick<Client, 'address' | 'port'>
type Session = Source & { readonly untilMs: number }

const DROPPED = -1

/** How headers are read. */
export type ProxyDatagramsOptions = {
  /** Returns from whom headers count; called for each datagram. */
  readonly headers: () => ProxyHeaders
  /** Returns milliseconds of a monotonic clock. */
  readonly now: () => number
  /** Called for each datagram that is dropped because of its header. */
  readonly onRefused: () => void
}

/** Answers the messages after the headers for the clients that these name. */
export class ProxyDatagrams implements UdpAnswers {
  private readonly answers: UdpAnswers
  private readonly options: ProxyDatagramsOptions
  /** By the peer's address and port, the one that was used longest ago first. */
  private readonly sessions = new Map<string, Session>()
  /** The client of the last message. */
  private source: Source = { address: '', port: 0 }

  constructor(answers: UdpAnswers, options: ProxyDatagramsOptions) {
    this.answers = answers
    this.options = options
  }

  readonly fast: UdpAnswers['fast'] = (datagram, peer, writer) => {
    const message = this.open(datagram, peer)
    if (message === undefined) this.options.onRefused()
    // A header alone begins a session.
    if (message === undefined || message.length === 0) return DROPPED
    return this.answers.fast(message, { ...peer, ...this.source }, writer)
  }

  readonly slow: UdpAnswers['slow'] = (datagram, peer) => {
    const message = this.open(datagram, peer)
    return message && this.answers.slow(message, { ...peer, ...this.source })
  }

  /** Returns the message after the header, and sets its client; `undefined` to drop it. */
  private open(datagram: Uint8Array, peer: Client): Uint8Array | undefined {
    const headers = this.options.headers()
    const policy = headers.policyOf(peer.address)
    this.source = { address: peer.address, port: peer.port }
    if (policy === 'skip') return datagram
    const header = readProxyHeader(datagram)
    if (header === 'none') {
      if (policy === 'require') return undefined
      if (policy === 'use' && headers.sessionMs > 0) this.resume(peer, headers)
      return datagram
    }
    const isBad = typeof header === 'string' || !header.fitsDatagram || policy === 'reject'
    if (isBad) return undefined
    const { ends, size } = header
    if (policy !== 'ignore' && ends !== undefined) {
      this.source = { address: ends.address, port: ends.port }
      if (headers.sessionMs > 0) this.remember(peer, headers)
    }
    return datagram.subarray(size)
  }

  /** Remembers the client, for datagrams of its peer without a header. */
  private remember({ address, port }: Source, { sessionMs, sessionsMax }: ProxyHeaders): void {
    const { sessions, source } = this
    const key = `${address} ${port}`
    sessions.delete(key)
    sessions.set(key, { ...source, untilMs: this.options.now() + sessionMs })
    for (const first of sessions.keys()) {
      if (sessions.size <= sessionsMax) return
      sessions.delete(first)
    }
  }

  private resume(peer: Source, headers: ProxyHeaders): void {
    const session = this.sessions.get(`${peer.address} ${peer.port}`)
    if (session === undefined || session.untilMs <= this.options.now()) return
    this.source = { address: session.address, port: session.port }
    this.remember(peer, headers)
  }
}
