/**
 * Reads the issuer of a cluster's ServiceAccount tokens from the API server, and its keys. Every
 * ServiceAccount may read them (ClusterRole `system:service-account-issuer-discovery`).
 * @module
 */
import type { Timing } from '../cluster/api/backoff.ts'
import { ApiError, type ObjectApi } from '../cluster/api/object-api.ts'
import { recordOf } from '../dns/bytes/unknown.ts'
import { readTokenIssuer, type TokenIssuer } from '../snapshot/format/token-issuer.ts'

/** How often the keys are read: API servers publish the next one before it signs. */
const READ_MS = 60_000
const DISCOVERY = '/.well-known/openid-configuration'
const KEYS = '/openid/v1/jwks'
/** The API server answers 406 to a request for plain JSON. */
const KEYS_TYPE = 'application/jwk-set+json'

/** What reading needs. */
export type ApiIssuerOptions = Pick<Timing, 'sleep'> & {
  readonly api: Pick<ObjectApi, 'send'>
  /** Called when the issuer or its keys have changed. */
  readonly onChange: () => void
  /** Gets why they cannot be read, once for each reason. */
  readonly onError: (message: string) => void
}

/** The issuer of one cluster. */
export class ApiIssuer {
  /** What was read last; kept while the API server is away. */
  current: TokenIssuer | undefined
  private readonly options: ApiIssuerOptions
  private text = ''
  private failure = ''

  constructor(options: ApiIssuerOptions) {
    this.options = options
  }

  /** Reads the issuer until `signal` ends it. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.read(signal)
      await this.options.sleep(READ_MS, signal)
    }
  }

  private async read(signal: AbortSignal): Promise<void> {
    const { api, onChange, onError } = this.options
    try {
      const get = { method: 'GET', resource: 'openid' } as const
      const { issuer } = recordOf(await api.send({ ...get, path: DISCOVERY }, signal))
      const { keys } = recordOf(await api.send({ ...get, path: KEYS, accept: KEYS_TYPE }, signal))
      const read = readTokenIssuer(issuer, keys)
      const text = JSON.stringify(read) ?? ''
      this.failure = ''
      if (text === this.text) return
      this.text = text
      this.current = read
      onChange()
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      if (signal.aborted || error.message === this.failure) return
      this.failure = error.message
      onError(`cannot publish the keys of ServiceAccount tokens: ${error.message}`)
    }
  }
}
