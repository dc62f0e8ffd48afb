/**
 * Requests to one HTTPS server at a given address over persistent connections: HTTP/2 if the server
 * supports it, else HTTP/1.1, and the same for gRPC. `fetch` lets us choose neither the address nor
 * the certificates.
 * @module
 */

import { Agent as PlainAgent, type RequestOptions, request as requestPlain } from 'node:http'
import { Agent, request } from 'node:https'
import type { DohRequest } from '../../gateway/doh/doh-client.ts'
import { readResponse } from './http-response.ts'
import { Http2Client, type HttpsServer } from './http2-client.ts'

/** Maximum number of HTTP/1.1 connections. */
const CONNECTIONS_MAX = 64

/** Requests to one server. */
export class HttpsFetch {
  private readonly server: HttpsServer
  private readonly agent: Agent
  private readonly plainAgent: PlainAgent
  private speaksHttp2 = true
  /** The connection for the next request, unless it is over. */
  private client: Http2Client | undefined

  constructor(server: HttpsServer) {
    this.server = server
    const kept = {
      keepAlive: true,
      maxSockets: CONNECTIONS_MAX,
      timeout: server.expireMs,
      ...(server.idleMax > 0 && { maxFreeSockets: server.idleMax }),
    }
    this.agent = new Agent({ ...kept, ...server.tls })
    this.plainAgent = new PlainAgent(kept)
  }

  /**
   * Resolves with the response and its body of at most 64 KiB, the maximum of a message.
   * @param ageMsMax maximum age of a connection that the request reuses
   * @throws {Error} with the reason
   */
  async fetch(
    url: string,
    wanted: DohRequest,
    ageMsMax: number = Number.POSITIVE_INFINITY,
  ): Promise<Response> {
    const sentMs = performance.now()
    const target = new URL(url)
    const { onlyHttp2 = false } = this.server
    const isHttp2 = onlyHttp2 || (target.protocol === 'https:' && this.speaksHttp2)
    const client = isHttp2 ? this.currentClient(ageMsMax) : undefined
    try {
      return client === undefined
        ? await this.fetchHttp1(target, wanted, ageMsMax)
        : await this.fetchBy(client, target, wanted)
    } catch (cause) {
      if (!wanted.signal.aborted) throw cause
      const { reason } = wanted.signal
      if (!(reason instanceof DOMException) || reason.name !== 'TimeoutError') throw cause
      this.leaveSilent(sentMs, client)
      const over = onlyHttp2 ? 'gRPC' : 'HTTPS'
      throw new Error(`no response over ${over} in time`, { cause })
    }
  }

  /** Closes all connections after their pending responses. */
  close(): void {
    this.closeIdle()
    this.client?.retire()
  }

  /**
   * Uses no connection again that has been silent since a request was sent that got no response. A
   * laptop that has slept or changed its network, and a server behind a node that is lost, leave
   * dead connections, which TCP notices after minutes only.
   */
  private leaveSilent(sentMs: number, used: Http2Client | undefined): void {
    this.closeIdle()
    const { client } = this
    if (client === undefined) return
    const { answeredMs, openedMs } = client
    const isSilent = (answeredMs ?? openedMs) <= sentMs
    if (!isSilent && (client !== used || answeredMs !== undefined)) return
    client.retire()
    this.client = undefined
  }

  /** Closes the idle connections of HTTP/1.1. */
  private closeIdle(): void {
    for (const { freeSockets } of [this.agent, this.plainAgent]) {
      for (const socket of Object.values(freeSockets).flat()) socket?.destroy()
    }
  }

  /** Sends a request over HTTP/2, or over HTTP/1.1 to a server that does not support it. */
  private async fetchBy(client: Http2Client, target: URL, wanted: DohRequest): Promise<Response> {
    const { signal } = wanted
    if (!(await client.isReady(signal))) {
      if (this.server.onlyHttp2 === true) throw new Error('the upstream does not support HTTP/2')
      this.speaksHttp2 = false
      return this.fetchHttp1(target, wanted)
    }
    try {
      return await client.fetch(target, wanted)
    } catch (error) {
      // The server may have closed a reused connection. DNS queries can be sent twice.
      if (!client.isOver || signal.aborted) throw error
      const next = this.currentClient()
      if (!(await next.isReady(signal))) throw error
      return next.fetch(target, wanted)
    }
  }

  /** Returns a connection up to an age, or a new one. */
  private currentClient(ageMsMax: number = Number.POSITIVE_INFINITY): Http2Client {
    const { client, server } = this
    const isYoung = client !== undefined && performance.now() - client.openedMs <= ageMsMax
    if (isYoung && !client.isOver) return client
    client?.retire()
    const next = new Http2Client(server)
    this.client = next
    return next
  }

  private fetchHttp1(
    target: URL,
    { method, headers, body, signal }: DohRequest,
    ageMsMax: number = Number.POSITIVE_INFINITY,
  ): Promise<Response> {
    if (Number.isFinite(ageMsMax)) this.closeIdle()
    const { address: host, port, tls, sourceAddress } = this.server
    const isPlain = target.protocol === 'http:'
    const options: RequestOptions = {
      host,
      port,
      method,
      path: `${target.pathname}${target.search}`,
      headers: { ...headers, host: target.host, ...(body && { 'content-length': body.length }) },
      signal,
      ...(sourceAddress !== undefined && { localAddress: sourceAddress }),
    }
    return new Promise((resolve, reject) => {
      const sent = isPlain
        ? requestPlain({ ...options, agent: this.plainAgent })
        : request({ ...options, ...tls, agent: this.agent })
      sent.once('error', reject)
      sent.once('response', (response) => {
        const { 'content-type': type, age } = response.headers
        const found = { status: response.statusCode ?? 0, type, age }
        readResponse(found, response).then(resolve, reject)
      })
      sent.end(body)
    })
  }
}
