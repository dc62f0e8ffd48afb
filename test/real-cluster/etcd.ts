/**
 * A real etcd on loopback.
 * @module
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { Agent, request as requestSecurely } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { freePort } from '../free-port.ts'
import { type Running, start } from './processes.ts'

/** Options of an etcd. */
export type EtcdOptions = {
  /** Certificate files; with them it speaks only TLS. */
  readonly tls?: { readonly cert: string; readonly key: string; readonly ca: string }
  /** Whether clients need a certificate of the same CA. */
  readonly wantsCertificates?: boolean
  /** Client port (default: a free one). */
  readonly port?: number
}

/** Keys of one transaction; etcd accepts 128. */
const TRANSACTION_PUTS = 100

/** An etcd with one member. */
export class Etcd {
  readonly url: string
  private readonly folder: string
  private readonly command: string
  private readonly options: EtcdOptions
  private readonly agent: Agent | undefined
  private running: Running | undefined
  private token = ''

  private constructor(command: string, port: number, options: EtcdOptions) {
    this.command = command
    this.options = options
    const { tls } = options
    this.agent =
      tls &&
      new Agent({
        ca: readFileSync(tls.ca),
        cert: readFileSync(tls.cert),
        key: readFileSync(tls.key),
      })
    this.folder = mkdtempSync(join(tmpdir(), 'kubedoh-etcd-'))
    this.url = `${options.tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`
  }

  /** Starts an empty etcd. */
  static async start(command: string, options: EtcdOptions = {}): Promise<Etcd> {
    const etcd = new Etcd(command, options.port ?? (await freePort()), options)
    await etcd.resume()
    return etcd
  }

  /** Stops it and keeps its data. */
  async pause(): Promise<void> {
    await this.running?.stop()
  }

  /** Kills it; the data that it has acknowledged stay. */
  async crash(): Promise<void> {
    this.running?.child.kill('SIGKILL')
    await this.running?.stop()
  }

  /** Starts it again. */
  async resume(): Promise<void> {
    const peer = `http://127.0.0.1:${await freePort()}`
    const { tls, wantsCertificates = false } = this.options
    this.running = start(this.command, [
      `--data-dir=${join(this.folder, 'data')}`,
      `--listen-client-urls=${this.url}`,
      `--advertise-client-urls=${this.url}`,
      `--listen-peer-urls=${peer}`,
      `--initial-advertise-peer-urls=${peer}`,
      `--initial-cluster=default=${peer}`,
      ...(tls === undefined ? [] : [`--cert-file=${tls.cert}`, `--key-file=${tls.key}`]),
      ...(tls !== undefined && wantsCertificates
        ? [`--trusted-ca-file=${tls.ca}`, '--client-cert-auth']
        : []),
    ])
    await this.running.line(/ready to serve client requests|serving (insecure )?client/)
  }

  /** Stops it and removes its data. */
  async stop(): Promise<void> {
    await this.running?.stop()
    rmSync(this.folder, { recursive: true, force: true })
  }

  /** Writes a key; a value that is not a string as JSON. */
  async put(key: string, value: unknown, lease = '0'): Promise<void> {
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    await this.send('/v3/kv/put', { key: btoa(key), value: btoa(text), lease })
  }

  /** Writes many keys, some in each request. */
  async putAll(entries: Iterable<readonly [key: string, value: string]>): Promise<void> {
    let puts: unknown[] = []
    const send = async (): Promise<void> => {
      if (puts.length > 0) await this.send('/v3/kv/txn', { success: puts })
      puts = []
    }
    for (const [key, value] of entries) {
      puts.push({ requestPut: { key: btoa(key), value: btoa(value) } })
      if (puts.length === TRANSACTION_PUTS) await send()
    }
    await send()
  }

  /** Deletes a key. */
  async delete(key: string): Promise<void> {
    await this.send('/v3/kv/deleterange', { key: btoa(key) })
  }

  /** Grants a lease. @returns its identifier */
  async grant(seconds: number): Promise<string> {
    const { ID } = await this.send('/v3/lease/grant', { TTL: String(seconds) })
    return String(ID)
  }

  /** Revokes a lease and its keys. */
  async revoke(lease: string): Promise<void> {
    await this.send('/v3/lease/revoke', { ID: lease })
  }

  /** Compacts the history up to the current revision. */
  async compact(): Promise<void> {
    const { header } = await this.send('/v3/kv/range', { key: btoa('x') })
    await this.send('/v3/kv/compaction', { revision: header?.revision, physical: true })
  }

  /** Enables authentication with a password for `root`. */
  async enableAuthentication(password: string): Promise<void> {
    await this.send('/v3/auth/user/add', { name: 'root', password })
    await this.send('/v3/auth/role/add', { name: 'root' })
    await this.send('/v3/auth/user/grant', { user: 'root', role: 'root' })
    await this.send('/v3/auth/enable', {})
    const { token } = await this.send('/v3/auth/authenticate', { name: 'root', password })
    this.token = String(token)
  }

  private send(path: string, body: unknown): Promise<Answer> {
    const { agent } = this
    const headers = this.token === '' ? {} : { authorization: this.token }
    const options = { method: 'POST', headers }
    return new Promise((resolve, reject) => {
      const sent =
        agent === undefined
          ? request(this.url + path, options)
          : requestSecurely(this.url + path, { ...options, agent })
      sent.on('error', reject)
      sent.on('response', (response) => {
        text(response).then((answer) => {
          if (response.statusCode === 200) resolve(JSON.parse(answer))
          else reject(new Error(`etcd: ${path}: ${answer}`))
        }, reject)
      })
      sent.end(JSON.stringify(body))
    })
  }
}

type Answer = {
  readonly ID?: string
  readonly token?: string
  readonly header?: { readonly revision: string }
}
