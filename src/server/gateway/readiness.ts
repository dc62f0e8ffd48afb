/**
 * `GET /ready`, for probes and load balancers: whether to send clients to this gateway. It needs no
 * token and says nothing else, neither names nor how many clusters are waited for.
 * @module
 */
import { uncached } from '../../gateway/doh/json-response.ts'
import type { App } from '../http/http-request.ts'

const PATH = '/ready'

/**
 * The readiness of one process. It begins when the process has looked at each cluster, and ends
 * when the process is about to stop. Between these, an origin that goes away changes nothing: each
 * answer comes from memory.
 */
export class Readiness {
  private readonly hasLooked: () => Promise<boolean>
  private hasBegun = false
  private hasEnded = false
  private looking: Promise<void> | undefined

  /**
   * @param hasLooked as `Gateway` has it; called for each probe until it resolves with
   * true
   */
  constructor(hasLooked: () => Promise<boolean>) {
    this.hasLooked = hasLooked
  }

  /** Ends it. */
  end(): void {
    this.hasEnded = true
  }

  /** Returns an app that answers the probe, and passes on all other requests. */
  beside(app: App): App {
    return {
      fetch: (request, env, context) =>
        isProbe(request) ? this.respond() : app.fetch(request, env, context),
    }
  }

  private async respond(): Promise<Response> {
    if (!this.hasEnded && !this.hasBegun) {
      this.looking ??= this.look()
      await this.looking
    }
    return uncached(this.hasBegun && !this.hasEnded ? 200 : 503, null)
  }

  private async look(): Promise<void> {
    this.hasBegun = await this.hasLooked()
    this.looking = undefined
  }
}

function isProbe({ method, url }: Request): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false
  return url.endsWith(PATH) && new URL(url).pathname === PATH
}
