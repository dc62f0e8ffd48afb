/**
 * Options of the API server in directives that read a cluster: address, credentials and rate limits
 * (github.com/coredns/coredns, plugin/kubernetes/setup.go).
 * @module
 */
import {
  argTexts,
  firstWord,
  type Option,
  type OptionReaders,
  onlyWord,
  parseCount,
  parseDuration,
} from './arguments.ts'
import { configError, type Position, type Problem, problemAt } from './problem.ts'
import type { Word } from './server-block.ts'

/** Connection to a cluster's API server. */
export type ApiOptions = {
  readonly kubeconfig: { readonly path: string; readonly context: string | undefined } | undefined
  /** URL of the API server. */
  readonly endpoint: string | undefined
  /** Client certificate, its key, and the CA of `endpoint`: paths of PEM files. */
  readonly tls: { readonly cert: string; readonly key: string; readonly ca: string } | undefined
  /** How long the server waits for the cluster's objects before it answers queries. */
  readonly startupMs: number
  readonly apiLimits: ApiLimits
}

/** Limits of requests to an API server; 0 for no limit. */
export type ApiLimits = {
  readonly requestsPerSecond: number
  /** Requests allowed in a burst above `requestsPerSecond`. */
  readonly burst: number
  /** Concurrent requests. */
  readonly inFlightMax: number
}

/** Options that are being parsed, and notices about them. */
export type ApiDraft = ApiOptions & { readonly notices: Problem[] }

const STARTUP_MS_DEFAULT = 5000
const STARTUP_MS_MAX = 24 * 3_600_000
const REQUESTS_MAX = 1_000_000

/** Defaults: the API server of the Pod's service account, without limits. */
export const API_DEFAULTS: ApiOptions = {
  kubeconfig: undefined,
  endpoint: undefined,
  tls: undefined,
  startupMs: STARTUP_MS_DEFAULT,
  apiLimits: { requestsPerSecond: 0, burst: 0, inFlightMax: 0 },
}

/** Parsers of the options by name. */
export const API_READERS: OptionReaders<ApiDraft> = {
  kubeconfig: (option) => ({ kubeconfig: readKubeconfig(option) }),
  endpoint: (option, { notices }) => ({ endpoint: firstWord(option, notices).text }),
  tls: (option) => {
    const [cert = '', key = '', ca = ''] = argTexts(option, 3)
    return { tls: { cert, key, ca } }
  },
  startup_timeout: (option, { notices }) => {
    const word = firstWord(option, notices)
    const startupMs = parseDuration(word)
    if (startupMs > 0 && startupMs <= STARTUP_MS_MAX) return { startupMs }
    throw configError(word, `"${word.text}" is not a time over 0 and up to 24h`)
  },
  apiserver_qps: (option, { apiLimits }) => ({
    apiLimits: { ...apiLimits, requestsPerSecond: parseRate(onlyWord(option)) },
  }),
  apiserver_burst: (option, { apiLimits }) => ({
    apiLimits: { ...apiLimits, burst: parseCount(onlyWord(option), 0, REQUESTS_MAX) },
  }),
  apiserver_max_inflight: (option, { apiLimits }) => ({
    apiLimits: { ...apiLimits, inFlightMax: parseCount(onlyWord(option), 0, REQUESTS_MAX) },
  }),
}

/** Reads `kubeconfig PATH [CONTEXT]`. */
export function readKubeconfig(option: Option): ApiOptions['kubeconfig'] {
  const [path = '', context] = argTexts(option, 1, 2)
  return { path, context }
}

/** Adds a notice for each option that CoreDNS ignores because of another one. */
export function noticeUnused(draft: ApiDraft & Position): void {
  const { kubeconfig, endpoint, tls, notices } = draft
  if (kubeconfig !== undefined && endpoint !== undefined) {
    notices.push(problemAt(draft, '"endpoint" is ignored because "kubeconfig" is set'))
  } else if (tls !== undefined && endpoint === undefined) {
    notices.push(problemAt(draft, '"tls" is ignored because "endpoint" is not set'))
  }
}

function parseRate(word: Word): number {
  const value = Number(word.text)
  if (/^[\d.]+(e[+-]?\d+)?$/i.test(word.text) && 0 <= value && value <= REQUESTS_MAX) return value
  throw configError(word, `"${word.text}" is not a number from 0 to ${REQUESTS_MAX}`)
}
