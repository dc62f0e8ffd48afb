/**
 * A server of S3's protocol over a folder: versitygw, which keeps what it has when it is killed.
 * @module
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { S3Options } from '../../../src/server/gateway/s3-client.ts'
import { freePort } from '../../free-port.ts'
import { type Running, start } from '../../real-cluster/processes.ts'

const KEYS = { accessKeyId: 'kubedoh-test', secretAccessKey: 'a secret of the tests' }
const BUCKET = 'names'

/** A server with one bucket. */
export class S3Server {
  /** The variables with which a gateway reaches it. */
  readonly environment: Readonly<Record<string, string>>
  /** Where the client finds the bucket, and with which keys. */
  readonly options: S3Options
  private readonly program: string
  private readonly folder: string
  private readonly address: string
  private running: Running | undefined

  private constructor(program: string, port: number) {
    this.program = program
    this.folder = mkdtempSync(join(tmpdir(), 'kubedoh-s3-'))
    this.address = `127.0.0.1:${port}`
    mkdirSync(join(this.folder, BUCKET))
    const url = `http://${this.address}`
    this.environment = {
      AWS_ENDPOINT_URL: url,
      AWS_ACCESS_KEY_ID: KEYS.accessKeyId,
      AWS_SECRET_ACCESS_KEY: KEYS.secretAccessKey,
    }
    this.options = {
      url: `${url}/${BUCKET}`,
      region: 'us-east-1',
      credentials: () => Promise.resolve(KEYS),
    }
  }

  /** Starts a server. @param program path of versitygw */
  static async start(program: string): Promise<S3Server> {
    const server = new S3Server(program, await freePort())
    await server.begin()
    return server
  }

  /** The store of a gateway, below a prefix. */
  place(prefix: string): string {
    return `s3://${BUCKET}/${prefix}`
  }

  /** Starts it again. */
  async begin(): Promise<void> {
    const keys = ['--access', KEYS.accessKeyId, '--secret', KEYS.secretAccessKey]
    // Entity tags are extended attributes here. In files beside (`--sidecar`), a read may give the
    // tag of a later write than its bytes, and the next conditional write would lose an update.
    const backend = ['--quiet', 'posix', this.folder]
    this.running = start(this.program, [...keys, '--port', this.address, ...backend])
    for (;;) {
      const response = await fetch(`http://${this.address}/`).catch(() => undefined)
      await response?.body?.cancel()
      if (response !== undefined) return
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }

  /** Sends it a signal; resolves once it is gone, if the signal ends it. */
  async signal(signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): Promise<void> {
    this.running?.child.kill(signal)
    if (signal === 'SIGKILL') await this.running?.ended
  }

  /** Ends it, and removes what it has. */
  async stop(): Promise<void> {
    await this.signal('SIGKILL')
    rmSync(this.folder, { recursive: true, force: true })
  }
}
