/**
 * The `etcd` directive's options (CoreDNS, plugin/etcd/setup.go).
 * @module
 */

import {
  argTexts,
  flag,
  type Option,
  type OptionReaders,
  onlyDirective,
  onlyWord,
  parseChoice,
  parseDuration,
  readOptions,
  zonesOf,
} from '../../../corefile/arguments.ts'
import { configError, type Position } from '../../../corefile/problem.ts'
import type { Directive, Word } from '../../../corefile/server-block.ts'
import { ROOT } from '../../../dns/names/name.ts'
import type { Host, TlsIdentity } from '../../contract/host.ts'
import { tlsIdentity } from '../../plugin-kit/tls-files.ts'
import type { Fallthrough } from '../../plugin-kit/zones.ts'
import type { Rules } from '../kubernetes/nxdomain-rules.ts'
import { cleanPath } from './key-path.ts'
import type { KeyTable } from './key-table.ts'

/** Where keys are, and how to connect. */
export type EtcdConnection = Position & {
  /** The prefix of all keys: '', or a path with a leading slash and no trailing one. */
  readonly path: string
  /** URLs, one at least, without a path. */
  readonly endpoints: readonly string[]
  /** For `https` endpoints. */
  readonly tls: TlsIdentity
  /** Credentials for etcd; `undefined` for none. */
  readonly credentials: { readonly username: string; readonly password: string } | undefined
}

/** An `etcd` directive. */
export type EtcdOptions = {
  readonly connection: EtcdConnection
  /** Zones to answer, absolute and in lower case. */
  readonly zones: readonly Uint8Array[]
  readonly fallthrough: Fallthrough
  /** The rules that decide whether a name exists for a type. */
  readonly rules: Rules
  /** Lowest TTL of a key with a lease; 0 for the default. */
  readonly leaseSecondsMin: number
  readonly leaseSecondsMax: number
  /** ID of the cluster whose published keys are served, at gateways. */
  readonly cluster: string | undefined
}

const PATH_DEFAULT = '/skydns'
const ENDPOINT_DEFAULT = 'http://localhost:2379'
const LEASE_SECONDS_MIN_DEFAULT = 30
const LEASE_SECONDS_MAX_DEFAULT = 86_400
const TTL_SECONDS_MAX = 0xffff_ffff

/** Reads a file of `tls`; `undefined` at gateways, which do not connect to etcd. */
type ReadText = Host['readText'] | undefined

type Draft = Pick<EtcdConnection, 'path' | 'credentials'> &
  Pick<EtcdOptions, 'fallthrough' | 'rules' | 'leaseSecondsMin' | 'leaseSecondsMax' | 'cluster'> & {
    readonly endpoints: readonly Word[]
    readonly tls: TlsIdentity | undefined
    readonly readText: ReadText
  }

const READERS: OptionReaders<Draft> = {
  fallthrough: ({ args }) => ({ fallthrough: zonesOf(args, [ROOT]) }),
  answers: (option) => ({ rules: parseChoice(onlyWord(option), ['coredns', 'rfc']) }),
  path: (option) => ({ path: cleanPath(onlyWord(option).text) }),
  endpoint: (option, { readText }) => {
    // A gateway needs no variable that names the etcd.
    if (readText === undefined) return {}
    argTexts(option, 1, Infinity)
    return { endpoints: option.args }
  },
  credentials: (option) => {
    const [username = '', password = ''] = argTexts(option, 2)
    return { credentials: username && password ? { username, password } : undefined }
  },
  tls: (option, { readText }) => ({ tls: readText && tlsIdentity(option, readText) }),
  'min-lease-ttl': (option) => ({ leaseSecondsMin: parseSeconds(option) }),
  'max-lease-ttl': (option) => ({ leaseSecondsMax: parseSeconds(option) }),
  cluster: (option) => ({ cluster: onlyWord(option).text }),
  // CoreDNS accepts and ignores the options below.
  stubzones: (option) => void flag(option),
  debug: (option) => void flag(option),
  upstream: null,
}

/** Reads the only directive. @throws {ConfigError} */
export function parseEtcd(
  directives: readonly [Directive, ...Directive[]],
  blockZones: readonly Uint8Array[],
  readText: ReadText,
): EtcdOptions {
  const directive = onlyDirective(directives)
  const { file, line, column } = directive
  const draft: Draft = {
    path: PATH_DEFAULT,
    endpoints: [],
    tls: undefined,
    credentials: undefined,
    fallthrough: undefined,
    rules: 'coredns',
    leaseSecondsMin: LEASE_SECONDS_MIN_DEFAULT,
    leaseSecondsMax: LEASE_SECONDS_MAX_DEFAULT,
    cluster: undefined,
    readText,
  }
  readOptions(directive, READERS, draft)
  const { path, tls, credentials, leaseSecondsMin, leaseSecondsMax, ...rest } = draft
  const { fallthrough, rules, cluster } = rest
  const scheme = tls === undefined ? 'http' : 'https'
  const endpoints = draft.endpoints.map((word) => parseEndpoint(word, scheme))
  if (endpoints.length === 0) endpoints.push(ENDPOINT_DEFAULT)
  return {
    connection: { file, line, column, path, endpoints, tls: tls ?? {}, credentials },
    zones: zonesOf(directive.args, blockZones),
    fallthrough,
    rules,
    leaseSecondsMin: leaseSecondsMin || LEASE_SECONDS_MIN_DEFAULT,
    leaseSecondsMax: leaseSecondsMax || LEASE_SECONDS_MAX_DEFAULT,
    cluster,
  }
}

/** Reads an endpoint: a URL, or a host and port, reached by `scheme`. */
function parseEndpoint(word: Word, scheme: string): string {
  const text = /^\w+:\/\//.test(word.text) ? word.text : `${scheme}://${word.text}`
  const url = URL.parse(text)
  if (url !== null && /^https?:$/.test(url.protocol) && url.hostname !== '') return url.origin
  const message = `"${word.text}" is not the URL of an etcd, such as http://etcd.example.org:2379`
  throw configError(word, message)
}

/** Reads seconds, or a duration, rounded down to seconds; '' is 0. */
function parseSeconds(option: Option): number {
  const word = onlyWord(option)
  const text = word.text.trim()
  const isNumber = /^\d*$/.test(text)
  const seconds = isNumber ? Number(text) : Math.floor(parseDuration({ ...word, text }) / 1000)
  if (seconds <= TTL_SECONDS_MAX) return seconds
  throw configError(word, `"${word.text}" is over ${TTL_SECONDS_MAX} seconds`)
}

/** The keys of an etcd, in memory and up to date. */
export type KeySource = {
  /** The keys; `undefined` until the first read is complete. */
  readonly current: () => KeyTable | undefined
  /**
   * Lower bound of the seconds until a lease ends, unless it is renewed; at least 1. `undefined`
   * for an unknown lease.
   */
  readonly leaseSeconds: (lease: string) => number | undefined
}

/** A host that may read an etcd. */
export type EtcdHost = Host & {
  /**
   * Opens the keys of an `etcd` directive. Absent at gateways, which have published keys.
   * @throws {ConfigError} when the options do not fit
   */
  readonly openKeys?: (connection: EtcdConnection) => KeySource
}
