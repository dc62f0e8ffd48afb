/**
 * Reads the gateway's configuration from variables; docs/gateway-variables.md describes them.
 * @module
 */

import { type CorefileSource, NO_FILES } from '../../corefile/lexeme-stream.ts'
import { corefileSteps } from '../../corefile/parse-corefile.ts'
import { ConfigError, formatProblem } from '../../corefile/problem.ts'
import type { ServerBlock } from '../../corefile/server-block.ts'
import { finish, inSlices, type Turns } from '../../dns/bytes/steps.ts'
import { isRecord } from '../../dns/bytes/unknown.ts'
import { TrustedProxies } from '../doh/trusted-proxies.ts'
import {
  type ClusterConfig,
  ClusterEntryError,
  readClusterEntry,
  TOKEN_SHA256 as SHA256,
} from './cluster-entry.ts'
import { type ExchangeKey, readExchangeKey } from './exchange-key.ts'
import { type IssuerConfig, IssuersError, readIssuers } from './issuers.ts'
import type { ReaderTimes } from './reader-times.ts'

/** Names of the variables other than COREFILE, which is a file on Node. */
export const GATEWAY_VARIABLES = [
  'CLUSTERS',
  'ADMIN_TOKEN_SHA256',
  'READ_ONLY_TOKEN_SHA256',
  'REPLICA_TOKEN_SHA256',
  'CLIENT_TOKEN_SHA256',
  'PUBLIC',
  'CLIENT_TOKEN_CLUSTERS',
  'TOKEN_DOMAIN',
  'PUBLIC_RECURSE',
  'STALE_SECONDS',
  'EXPIRE_SECONDS',
  'REQUESTS_PER_MINUTE',
  'CORS_ORIGINS',
  'TRUSTED_PROXIES',
  'PROXY_PROTOCOL',
  'ACCESS_TEAM',
  'ACCESS_AUDIENCE',
  'ISSUERS',
  'EXCHANGE_KEY',
] as const

type Name = 'COREFILE' | (typeof GATEWAY_VARIABLES)[number]

/** Variables as the runtime has them; an empty one counts as unset. */
export type GatewayVariables = { readonly [name in Name]?: string }

/** The variables, parsed. */
export type GatewayConfig = {
  readonly blocks: readonly ServerBlock[]
  readonly clusters: ReadonlyMap<string, ClusterConfig>
  readonly access: Access
  /** SHA-256 of the operator (admin) tokens: several while one replaces another. */
  readonly adminSha256s: readonly string[]
  /** SHA-256 of the tokens that read `/readyz` and `/metrics`. */
  readonly readOnlySha256s: readonly string[]
  /** SHA-256 of the tokens of gateways that follow this one. */
  readonly replicaSha256s: readonly string[]
  /** The domain whose subdomains have tokens as first labels, in lower case; '' for none. */
  readonly tokenDomain: string
  /** Patterns of the clusters whose ClientTokens count. */
  readonly objectClusters: readonly string[]
  readonly times: ReaderTimes
  /** Requests a minute for each token, or for each address without one; 0 for no limit. */
  readonly requestsPerMinute: number
  /** Origins of web pages that may query (CORS). */
  readonly corsOrigins: readonly string[]
  /** Proxies whose headers name the client; `undefined` for none. */
  readonly proxies: TrustedProxies | undefined
  /** Whether connections of these begin with a PROXY header. */
  readonly hasProxyProtocol: boolean
  /** The Cloudflare Access application in front of the gateway; `undefined` for none. */
  readonly application: AccessApplication | undefined
  /** Issuers whose tokens identify clients. */
  readonly issuers: readonly IssuerConfig[]
  /** Keys of the tokens that are given in exchange; the first one signs. None gives none. */
  readonly exchangeKeys: readonly ExchangeKey[]
}

/** An Access application. */
export type AccessApplication = {
  /** The team's URL, `https://TEAM.cloudflareaccess.com`. */
  readonly issuer: string
  /** The application's audience tag, 64 hexadecimal digits. */
  readonly audience: string
}

/** Which clients may query a gateway without a token of the token store. */
export type Access = {
  /** Whether every client may, and sees everything. */
  readonly isPublic: boolean
  /** SHA-256 of the client token, which sees everything; `undefined` for none. */
  readonly sha256: string | undefined
}

/** A variable with an invalid value. */
export class GatewayConfigError extends Error {
  override readonly name = 'GatewayConfigError'
}

/** Stands for the file of a Corefile that a variable holds. */
const COREFILE_NAME = 'COREFILE'
/** Most tokens of operators of one kind. */
const OPERATOR_TOKENS_MAX = 4
/** Leaves room for the label of a token (RFC 1035 §2.3.4); the last label is no number. */
const TOKEN_DOMAIN =
  /^(?=.{1,226}$)(?:(?!-)[a-z0-9-]{1,63}(?<!-)\.)+(?!-)(?=.*[a-z])[a-z0-9-]{1,63}(?<!-)$/
const REFRESH_MS = 250
const STALE_SECONDS_DEFAULT = 60
const EXPIRE_SECONDS_DEFAULT = 24 * 3600
const REQUESTS_PER_MINUTE_DEFAULT = 60_000

/** The Corefile of a gateway. */
export type CorefileOrigin = {
  /** Its name in error messages. */
  readonly file: string
  readonly source: CorefileSource
  /** Where queries are answered meanwhile: parses in slices. */
  readonly turns?: Turns
}

/**
 * Reads the variables.
 * @throws {GatewayConfigError} with the variable and the problem
 */
export async function readGatewayConfig(
  variables: GatewayVariables,
  origin: CorefileOrigin = { file: COREFILE_NAME, source: NO_FILES },
): Promise<GatewayConfig> {
  const clusters = await readClusters(variables.CLUSTERS ?? '')
  const blocks = await readBlocks(variables.COREFILE ?? '', origin)
  return {
    blocks: withOnlyCluster(blocks, [...clusters.keys()]),
    clusters,
    access: readAccess(variables),
    adminSha256s: readHashes(variables, 'ADMIN_TOKEN_SHA256'),
    readOnlySha256s: readHashes(variables, 'READ_ONLY_TOKEN_SHA256'),
    replicaSha256s: readHashes(variables, 'REPLICA_TOKEN_SHA256'),
    tokenDomain: readTokenDomain(variables),
    objectClusters: readObjectClusters(variables),
    times: {
      refreshMs: REFRESH_MS,
      staleMs: 1000 * readSeconds(variables, 'STALE_SECONDS', STALE_SECONDS_DEFAULT),
      expireMs: 1000 * readSeconds(variables, 'EXPIRE_SECONDS', EXPIRE_SECONDS_DEFAULT),
    },
    requestsPerMinute: readRate(variables),
    corsOrigins: readOrigins(variables),
    ...readProxies(variables),
    application: readApplication(variables),
    issuers: readIssuersOf(variables),
    exchangeKeys: await readExchangeKeys(variables),
  }
}

/**
 * Checks that no connection has to begin with a PROXY header, where the platform takes connections.
 * @throws {GatewayConfigError}
 */
export function refuseProxyProtocol({ hasProxyProtocol }: GatewayConfig): void {
  if (!hasProxyProtocol) return
  const message = 'PROXY_PROTOCOL is "true", but this platform reads no PROXY header; unset it'
  throw new GatewayConfigError(message)
}

async function readBlocks(text: string, origin: CorefileOrigin): Promise<readonly ServerBlock[]> {
  const { file, source, turns } = origin
  const isUnset = file === COREFILE_NAME && text.trim() === ''
  if (isUnset) throw new GatewayConfigError(`${COREFILE_NAME} is not set`)
  try {
    const steps = corefileSteps(text, file, source)
    const corefile = await (turns === undefined ? finish(steps) : inSlices(steps, turns))
    if (corefile.problems.length > 0) throw new ConfigError(corefile.problems)
    return corefile.blocks
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    throw new GatewayConfigError(error.problems.map(formatProblem).join('; '), { cause: error })
  }
}

/** Directives that read a cluster. */
export const CLUSTER_READERS: ReadonlySet<string> = new Set([
  'kubernetes',
  'k8s_external',
  'k8s_gateway',
  'etcd',
])

/** Adds the cluster to each directive that reads one and names none, if there is only one. */
export function withOnlyCluster(
  blocks: readonly ServerBlock[],
  clusters: readonly string[],
): readonly ServerBlock[] {
  const [only, ...others] = clusters
  if (only === undefined || others.length > 0) return blocks
  return blocks.map((block) => ({
    ...block,
    directives: block.directives.map((directive) => {
      const { name, lines, file, line, column } = directive
      const isNamed = lines.some(({ words: [first] }) => first?.text === 'cluster')
      if (!CLUSTER_READERS.has(name) || isNamed) return directive
      const words = ['cluster', only].map((text) => ({ text, file, line, column }))
      return { ...directive, lines: [...lines, { words, lines: [] }] }
    }),
  }))
}

async function readClusters(text: string): Promise<ReadonlyMap<string, ClusterConfig>> {
  const clusters = new Map<string, ClusterConfig>()
  for (const [id, value] of Object.entries(parseObject(text))) {
    clusters.set(id, await readClusterEntry(id, value).catch(asConfigError))
  }
  return clusters
}

function asConfigError(error: unknown): never {
  if (!(error instanceof ClusterEntryError)) throw error
  throw new GatewayConfigError(error.message, { cause: error })
}

function readAccess(variables: GatewayVariables): Access {
  // Only `kubedoh deploy` acts on it; a gateway that runs refuses a word that it cannot mean.
  readBoolean(variables, 'PUBLIC_RECURSE')
  return {
    isPublic: readBoolean(variables, 'PUBLIC'),
    sha256: readHash(variables, 'CLIENT_TOKEN_SHA256'),
  }
}

function readBoolean(variables: GatewayVariables, name: Name): boolean {
  const text = variables[name] || 'false'
  if (text === 'true' || text === 'false') return text === 'true'
  throw new GatewayConfigError(`${name} is neither "true" nor "false"`)
}

function readHash(variables: GatewayVariables, name: Name): string | undefined {
  const text = variables[name] || undefined
  if (text === undefined || SHA256.test(text)) return text
  throw new GatewayConfigError(`${name} is not 64 hexadecimal digits`)
}

/** Reads hashes that are separated by spaces: of a token, and of the one that replaces it. */
function readHashes(variables: GatewayVariables, name: Name): readonly string[] {
  const hashes = (variables[name] ?? '').split(/\s+/).filter((word) => word !== '')
  if (hashes.length > OPERATOR_TOKENS_MAX) {
    throw new GatewayConfigError(`${name} has over ${OPERATOR_TOKENS_MAX} values`)
  }
  if (hashes.every((hash) => SHA256.test(hash))) return hashes
  throw new GatewayConfigError(`${name} is not 64 hexadecimal digits`)
}

/**
 * Returns whether a text may be TOKEN_DOMAIN: labels of LDH (RFC 5890 §2.3.1) in lower case, at
 * least two, without a final dot.
 */
export function isTokenDomain(text: string): boolean {
  return TOKEN_DOMAIN.test(text)
}

/** Reads TOKEN_DOMAIN in lower case. @throws {GatewayConfigError} */
function readTokenDomain({ TOKEN_DOMAIN: text = '' }: GatewayVariables): string {
  const domain = text.toLowerCase()
  if (domain === '' || isTokenDomain(domain)) return domain
  throw new GatewayConfigError(`TOKEN_DOMAIN is "${text}", expected a domain like doh.example.org`)
}

function readObjectClusters({ CLIENT_TOKEN_CLUSTERS: text = '' }: GatewayVariables): string[] {
  const patterns = text.split(',').filter((pattern) => pattern !== '')
  const wrong = patterns.find((pattern) => !/^[a-z0-9*-]{1,63}$/.test(pattern))
  if (wrong === undefined) return patterns
  const expected = 'identifiers of clusters with commas between them; * is any text'
  throw new GatewayConfigError(`CLIENT_TOKEN_CLUSTERS has "${wrong}", expected ${expected}`)
}

function readSeconds(variables: GatewayVariables, name: Name, otherwise: number): number {
  const text = variables[name] || String(otherwise)
  if (Number(text) > 0) return Number(text)
  throw new GatewayConfigError(`${name} is "${text}", expected a number of seconds`)
}

function readRate({ REQUESTS_PER_MINUTE: text }: GatewayVariables): number {
  if (!text) return REQUESTS_PER_MINUTE_DEFAULT
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw new GatewayConfigError(`REQUESTS_PER_MINUTE is "${text}", expected a number`)
}

function readOrigins({ CORS_ORIGINS: text = '' }: GatewayVariables): readonly string[] {
  const origins = text.split(/\s+/).filter((word) => word !== '')
  const wrong = origins.find((origin) => !URL.canParse(origin) || new URL(origin).origin !== origin)
  if (wrong === undefined) return origins
  throw new GatewayConfigError(`CORS_ORIGINS: "${wrong}" is not like https://app.example.org`)
}

function readProxies(
  variables: GatewayVariables,
): Pick<GatewayConfig, 'proxies' | 'hasProxyProtocol'> {
  const proxies = parseProxies(variables)
  const hasProxyProtocol = readBoolean(variables, 'PROXY_PROTOCOL')
  if (!hasProxyProtocol || proxies !== undefined) return { proxies, hasProxyProtocol }
  throw new GatewayConfigError('PROXY_PROTOCOL is "true" without TRUSTED_PROXIES')
}

function parseProxies({ TRUSTED_PROXIES: text = '' }: GatewayVariables): GatewayConfig['proxies'] {
  try {
    return TrustedProxies.parse(text)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new GatewayConfigError(`TRUSTED_PROXIES ${error.message}`, { cause: error })
  }
}

function readApplication(variables: GatewayVariables): AccessApplication | undefined {
  const { ACCESS_TEAM: team = '', ACCESS_AUDIENCE: audience = '' } = variables
  if (team === '' && audience === '') return undefined
  const url = URL.canParse(team) ? new URL(team) : undefined
  if (url?.protocol !== 'https:' || url.origin !== team) {
    const expected = 'a URL such as https://acme.cloudflareaccess.com'
    throw new GatewayConfigError(`ACCESS_TEAM is "${team}", expected ${expected}`)
  }
  if (SHA256.test(audience)) return { issuer: team, audience }
  throw new GatewayConfigError('ACCESS_AUDIENCE is not 64 hexadecimal digits')
}

function readIssuersOf({ ISSUERS: text = '' }: GatewayVariables): readonly IssuerConfig[] {
  try {
    return readIssuers(text)
  } catch (error) {
    if (!(error instanceof IssuersError)) throw error
    throw new GatewayConfigError(error.message, { cause: error })
  }
}

async function readExchangeKeys(variables: GatewayVariables): Promise<readonly ExchangeKey[]> {
  const texts = (variables.EXCHANGE_KEY ?? '').split(/\s+/).filter((word) => word !== '')
  if (texts.length > OPERATOR_TOKENS_MAX) {
    throw new GatewayConfigError(`EXCHANGE_KEY has over ${OPERATOR_TOKENS_MAX} values`)
  }
  const keys = await Promise.all(texts.map(readExchangeKey))
  if (keys.every((key) => key !== undefined)) return keys
  throw new GatewayConfigError(
    'EXCHANGE_KEY is not an Ed25519 key as printed by "kubedoh keys --exchange"',
  )
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  if (text.trim() === '') return {}
  try {
    const value: unknown = JSON.parse(text)
    if (isRecord(value)) return value
  } catch {
    throw new GatewayConfigError('CLUSTERS is not JSON')
  }
  throw new GatewayConfigError('CLUSTERS is not a JSON object')
}
