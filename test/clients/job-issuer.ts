/**
 * A CI system that signs the identities of its jobs, as GitHub does, with the endpoint of the
 * runner at which a job gets its token.
 * @module
 */
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { FakeIssuer } from '../gateway/fake-issuer.ts'
import { portOf } from '../server/clients.ts'

/** What GitHub puts into the environment of a job with `permissions: { id-token: write }`. */
const RUNNER_TOKEN = 'the-runner-of-these-tests'

/** A CI system, which runs until it is stopped. */
export class JobIssuer {
  private readonly server: Server
  private readonly issuer: FakeIssuer
  private readonly origin: string

  static async start(): Promise<JobIssuer> {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new JobIssuer(server)
  }

  private constructor(server: Server) {
    this.server = server
    this.origin = `http://127.0.0.1:${portOf(server.address())}`
    // As of GitHub Enterprise Server.
    this.issuer = new FakeIssuer(`${this.origin}/_services/token`, 'RS256')
    server.on('request', ({ url = '', headers: { authorization = '' } }, response) => {
      void this.respond(new URL(url, this.origin), authorization).then(async (found) => {
        response.writeHead(found.status).end(await found.text())
      })
    })
  }

  /** The `iss` of its tokens. */
  get url(): string {
    return this.issuer.url
  }

  /** Returns the variables of a job. */
  environmentOf(repository: string, ref: string): Readonly<Record<string, string>> {
    const job = new URLSearchParams({ repository, ref })
    return {
      ACTIONS_ID_TOKEN_REQUEST_URL: `${this.origin}/runner?api-version=2.0&${job}`,
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: RUNNER_TOKEN,
    }
  }

  /** Signs the identity of a job, with the claims of GitHub. */
  tokenOf(repository: string, ref: string, audience: string): Promise<string> {
    const [owner = ''] = repository.split('/')
    return this.issuer.sign(Date.now(), {
      sub: `repo:${repository}:ref:${ref}`,
      aud: audience,
      repository,
      repository_owner: owner,
      ref,
      event_name: 'push',
      iat: Math.floor(Date.now() / 1000),
    })
  }

  stop(): void {
    this.server.close()
    this.server.closeAllConnections()
  }

  private async respond(url: URL, authorization: string): Promise<Response> {
    if (url.pathname !== '/runner') return this.issuer.fetch(url.href)
    if (authorization !== `Bearer ${RUNNER_TOKEN}`) return new Response(null, { status: 401 })
    const { repository = '', ref = '', audience = '' } = Object.fromEntries(url.searchParams)
    return Response.json({ count: 1, value: await this.tokenOf(repository, ref, audience) })
  }
}
