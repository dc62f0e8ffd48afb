/**
 * An issuer of signed tokens (OpenID Connect Discovery 1.0, RFC 7519): its documents, its keys, and
 * what it signs.
 * @module
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import type { TestContext } from 'vitest'

/** An issuer. */
export class FakeIssuer {
  readonly url: string
  readonly algorithm: string
  /** What was fetched. */
  readonly asked: string[] = []
  /** Takes the place of a document, by its path. */
  readonly instead: Map<string, () => Promise<Response>> = new Map<
    string,
    () => Promise<Response>
  >()
  private keyNumber = 0
  private keys: Awaited<ReturnType<typeof generateKeyPair>> | undefined

  constructor(url: string, algorithm = 'ES256') {
    this.url = url
    this.algorithm = algorithm
  }

  /** Starts an issuer that listens on this machine, until the test ends. */
  static async listen(t: Pick<TestContext, 'onTestFinished'>): Promise<FakeIssuer> {
    let issuer: FakeIssuer | undefined
    const server = createServer((request, response) => {
      void issuer?.fetch(`${issuer.url}${request.url}`).then(async (found) => {
        response.writeHead(found.status).end(await found.text())
      })
    })
    t.onTestFinished(() => void server.close())
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    const port = typeof address === 'object' ? address?.port : 0
    issuer = new FakeIssuer(`http://127.0.0.1:${port}`, 'RS256')
    return issuer
  }

  /** Puts a new key in the place of the one before. */
  async rotate(): Promise<void> {
    this.keyNumber++
    this.keys = await generateKeyPair(this.algorithm, { extractable: true })
  }

  /** Signs claims; `exp` is in an hour of `nowMs`, `aud` is `kubedoh`, unless they say so. */
  async sign(nowMs: number, claims: JWTPayload): Promise<string> {
    if (this.keys === undefined) await this.rotate()
    const { privateKey } = this.keys ?? {}
    if (privateKey === undefined) throw new TypeError('no key')
    const exp = Math.floor(nowMs / 1000) + 3600
    return new SignJWT({ iss: this.url, aud: 'kubedoh', exp, ...claims })
      .setProtectedHeader({ alg: this.algorithm, kid: `key-${this.keyNumber}` })
      .sign(privateKey)
  }

  /** Sends a request to the issuer. */
  readonly fetch: (url: string) => Promise<Response> = async (url) => {
    this.asked.push(url)
    const path = url.slice(this.url.length)
    const instead = this.instead.get(path)
    if (instead !== undefined) return instead()
    if (path === '/.well-known/openid-configuration') {
      return Response.json({ issuer: this.url, jwks_uri: `${this.url}/keys` })
    }
    if (path !== '/keys') return new Response(null, { status: 404 })
    return Response.json(await this.keySet())
  }

  /** Returns its key set (RFC 7517 §5). */
  async keySet(): Promise<{ readonly keys: readonly object[] }> {
    if (this.keys === undefined) await this.rotate()
    const jwk = this.keys === undefined ? {} : await exportJWK(this.keys.publicKey)
    return { keys: [{ ...jwk, kid: `key-${this.keyNumber}`, use: 'sig' }] }
  }
}
