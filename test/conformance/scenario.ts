/**
 * Recorded scenarios: a configuration, a cluster, and what CoreDNS answered to many questions. The
 * README beside this file has the format.
 * @module
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'

/** What is expected of an answer. Records are `owner TTL class type rdata`. */
export type Expectation = {
  readonly rcode: string
  readonly aa: boolean
  readonly tc: boolean
  readonly ra: boolean
  readonly rd?: boolean
  readonly ad?: boolean
  readonly cd?: boolean
  /** Question section when it is not the query's: name, type, class. */
  readonly question?: readonly (readonly string[])[]
  readonly answer?: readonly string[]
  readonly authority?: readonly string[]
  readonly additional?: readonly string[]
  /** Aliases that the answer begins with, in this order. */
  readonly chain?: readonly string[]
  /** Addresses that come before all others. */
  readonly first?: readonly string[]
  readonly edns?: RecordedEdns
  /** Whether the sections are what a whole answer has, of which `count` records fit. */
  readonly subset?: boolean
  readonly count?: Readonly<Record<string, number | readonly number[]>>
  /** Whether there is no answer. */
  readonly drop?: boolean
}

/** An OPT record. */
export type RecordedEdns = {
  readonly size: number
  readonly do: boolean
  readonly version?: number
  readonly options?: readonly RecordedOption[]
}

/** An option; `data` in hexadecimal digits. */
export type RecordedOption = { readonly code: number; readonly data?: string }

/** A question and what is expected. */
export type Case = {
  readonly id: string
  readonly qname: string
  readonly qtype: string
  readonly qclass?: string
  readonly transport: 'udp' | 'tcp'
  readonly edns?: RecordedEdns
  readonly rd?: boolean
  readonly ad?: boolean
  readonly cd?: boolean
  readonly opcode?: string
  /** Address that the question comes from. */
  readonly src?: string
  readonly src_port?: number
  /** Serial of the zone that an IXFR query has; 1 when left out. */
  readonly serial?: number
  /** Not before this many milliseconds after the first question. */
  readonly at_ms?: number
  /** The whole message in hexadecimal digits, in place of the fields. */
  readonly raw?: string
  /** By how many seconds TTLs may be lower, because of a cache. */
  readonly ttl_max?: number
  /** Seconds by which the replay is late; not recorded. */
  readonly ttl_late?: number
  readonly expect: Expectation
  readonly any_of?: readonly Expectation[]
}

/** A scenario. */
export type Scenario = {
  readonly name: string
  readonly corefile: string
  /** The cluster's objects as JSON; '' for none. */
  readonly cluster: string
  /** What an etcd holds; absent for none. */
  readonly etcd?: readonly { readonly key: string; readonly value: unknown }[]
  /** Files that the Corefile names, by path. */
  /** What the Corefile imports from folders beside it; absent in scenarios from before. */
  readonly imports?: Readonly<Record<string, string>>
  readonly files: Readonly<Record<string, string>>
  readonly localAddresses: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  /** Variable of the Corefile to what the upstream behind it answers; `null` for a dead one. */
  readonly upstreams: Readonly<Record<string, readonly Fixture[] | null>>
  /** Whether a cache makes the order of the questions matter. */
  readonly ordered: boolean
  readonly cases: readonly Case[]
}

/** What an upstream answers to one question; the message in hexadecimal digits. */
export type Fixture = {
  readonly qname: string
  readonly qtype: string
  readonly qclass: string
  readonly wire: string
}

/** Stands in answers for the name of the machine, which is the recorder's there. */
export const HOSTNAME = 'CH TXT \\"HOSTNAME\\"'
const DATA = join(import.meta.dirname, 'data')

/** Names of all scenarios, sorted. */
export function scenarioNames(): string[] {
  return readdirSync(DATA)
    .map((file) => file.replace(/\.json\.br$/, ''))
    .sort()
}

/** Reads a scenario. */
export function readScenario(name: string): Scenario {
  const packed = readFileSync(join(DATA, `${name}.json.br`))
  const text = brotliDecompressSync(packed).toString()
  return JSON.parse(text.replaceAll(HOSTNAME, `CH TXT \\"${hostname()}\\"`))
}

/** Paths of what a server needs for a scenario. */
export type ScenarioFiles = {
  readonly corefile: string
  readonly objects: readonly string[]
  /** '' for none. */
  readonly etcd: string
  readonly files: string
}

/** Writes the files of a scenario to a folder, as a server wants them. */
export function writeScenarioFiles(
  { corefile, cluster, etcd, imports = {}, files }: Scenario,
  folder: string,
): ScenarioFiles {
  const path = (name: string): string => join(folder, name)
  for (const [name, text] of Object.entries(imports)) {
    mkdirSync(dirname(path(name)), { recursive: true })
    writeFileSync(path(name), text)
  }
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(path(join('files', name))), { recursive: true })
    writeFileSync(path(join('files', name)), text)
  }
  mkdirSync(path('files'), { recursive: true })
  // Servers stop at once, whatever time others have to notice.
  writeFileSync(path('Corefile'), corefile.replace(/lameduck \S+/, 'lameduck 0s'))
  if (cluster !== '') writeFileSync(path('cluster.json'), cluster)
  const objects = cluster === '' ? [] : [path('cluster.json')]
  if (etcd !== undefined) writeFileSync(path('etcd.json'), JSON.stringify(etcd))
  const keys = etcd === undefined ? '' : path('etcd.json')
  return { corefile: path('Corefile'), objects, etcd: keys, files: path('files') }
}
