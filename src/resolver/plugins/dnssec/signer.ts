/**
 * Signs RRsets with a zone's keys, and caches the signatures
 * (github.com/coredns/coredns, plugin/dnssec/dnssec.go).
 * @module
 */
import { concatBytes, toLatin1 } from '../../../dns/bytes/bytes.ts'
import { lowerName } from '../../../dns/names/name.ts'
import { TYPE } from '../../../dns/names/rr-type.ts'
import { type Metrics, metricInfo, type Series } from '../../../dns/telemetry/metrics.ts'
import type { ResourceRecord } from '../../../dns/wire/message.ts'
import {
  canonicalRecords,
  signedLabels,
  writeSignatureTerms,
} from '../../../dns/wire/signed-data.ts'
import type { Host } from '../../contract/host.ts'
import type { DnssecKey } from './key-file.ts'

/** Records of one set; the caller ensures that all belong to the first one's set. */
export type SignedRRset = readonly [ResourceRecord, ...ResourceRecord[]]

const HOUR_SECONDS = 3600
const DAY_SECONDS = 24 * HOUR_SECONDS
/** How far back signatures start: tolerates slow clocks, even by an hour of summer time. */
const BEFORE_SECONDS = 3 * HOUR_SECONDS
const AFTER_SECONDS = 8 * DAY_SECONDS
/** Shortest remaining validity of a reused signature. */
const REST_SECONDS = 2 * DAY_SECONDS
const KEPT_MS = 1000 * (AFTER_SECONDS - REST_SECONDS)
/** The original TTL in signatures: the plugin does not know the zone's. */
const ORIGINAL_TTL_SECONDS = 3600

type SignerParts = {
  readonly keys: readonly DnssecKey[]
  readonly capacity: number
  readonly now: Host['now']
  readonly metrics: DnssecMetrics
}

/** Signs for one server block. */
export class Signer {
  private readonly keys: readonly DnssecKey[]
  private readonly now: Host['now']
  private readonly metrics: DnssecMetrics
  private readonly cache: SignatureCache
  /** Whether KSKs sign the keys, and ZSKs all else. */
  private readonly isSplit: boolean

  constructor({ keys, capacity, now, metrics }: SignerParts) {
    this.keys = keys
    this.now = now
    this.metrics = metrics
    this.cache = new SignatureCache(capacity)
    this.isSplit = keys.some(({ use }) => use === 'keys') && keys.some(({ use }) => use === 'zone')
  }

  /**
   * Returns the RRSIG records of a set, one for each key.
   * @param signer the zone that signs, absolute
   */
  sign(records: SignedRRset, signer: Uint8Array): ResourceRecord[] {
    const [{ owner, class: rrClass, ttlSeconds }] = records
    return this.signatures(records, signer).map((rdata) => ({
      ...{ owner, type: TYPE.RRSIG, class: rrClass, ttlSeconds },
      rdata,
    }))
  }

  private signatures(records: SignedRRset, signer: Uint8Array): readonly Uint8Array[] {
    const nowMs = this.now()
    const covered = canonicalRecords(records, ORIGINAL_TTL_SECONDS)
    const key = toLatin1(concatBytes(lowerName(signer), covered))
    const known = this.cache.find(key, nowMs, nowMs + KEPT_MS)
    if (known !== undefined) {
      this.metrics.hits.value++
      return known
    }
    this.metrics.misses.value++
    const nowSeconds = Math.floor(nowMs / 1000)
    const [{ owner, type }] = records
    const terms = {
      typeCovered: type,
      labels: signedLabels(owner),
      originalTtlSeconds: ORIGINAL_TTL_SECONDS,
      expiration: nowSeconds + AFTER_SECONDS,
      inception: nowSeconds - BEFORE_SECONDS,
      signer,
    }
    const made = this.keysFor(type).map(({ algorithm, tag, sign }) => {
      const head = writeSignatureTerms({ ...terms, algorithm, keyTag: tag })
      return concatBytes(head, sign(concatBytes(head, covered)))
    })
    this.cache.put(key, made, 1000 * nowSeconds + KEPT_MS)
    this.metrics.entries.value = this.cache.size
    return made
  }

  private keysFor(type: number): readonly DnssecKey[] {
    if (!this.isSplit) return this.keys
    const wanted = type === TYPE.DNSKEY ? 'keys' : 'zone'
    return this.keys.filter(({ use }) => use === wanted)
  }
}

type DnssecMetrics = {
  readonly entries: Series
  readonly hits: Series
  readonly misses: Series
}

const ENTRIES = metricInfo(
  'coredns_dnssec_cache_entries',
  'The number of elements in the dnssec cache.',
  'server type',
)
const HITS = metricInfo('coredns_dnssec_cache_hits_total', 'The count of cache hits.', 'server')
const MISSES = metricInfo(
  'coredns_dnssec_cache_misses_total',
  'The count of cache misses.',
  'server',
)

/** Finds or creates the series of a server's cache. */
export function dnssecMetrics(metrics: Metrics, server: string): DnssecMetrics {
  return {
    entries: metrics.gauge(ENTRIES, [server, 'signature']),
    hits: metrics.counter(HITS, [server]),
    misses: metrics.counter(MISSES, [server]),
  }
}

/** Bound on the average bytes of an RRset: some come from outside. */
const BYTES_PER_ENTRY_MAX = 512
/** CoreDNS's cache has 256 shards, for at least four entries each. */
const ENTRIES_MIN = 1024

type Entry = {
  /** Data of RRSIG records. */
  readonly signatures: readonly Uint8Array[]
  /** When to renew them. */
  readonly untilMs: number
}

/** A cache of signatures. */
export class SignatureCache {
  private readonly entries = new Map<string, Entry>()
  private readonly entriesMax: number
  private bytes = 0

  constructor(capacity: number) {
    this.entriesMax = Math.max(capacity, ENTRIES_MIN)
  }

  get size(): number {
    return this.entries.size
  }

  /**
   * Finds signatures that need no renewal yet. Ignores those to renew after `untilMsMax`: a clock
   * that was ahead made them, and they are not valid yet.
   */
  find(
    key: string,
    nowMs: number,
    untilMsMax: number = Number.POSITIVE_INFINITY,
  ): readonly Uint8Array[] | undefined {
    const entry = this.entries.get(key)
    if (entry === undefined) return undefined
    this.entries.delete(key)
    this.bytes -= key.length
    if (entry.untilMs < nowMs || entry.untilMs > untilMsMax) return undefined
    this.put(key, entry.signatures, entry.untilMs)
    return entry.signatures
  }

  /** Stores signatures under a key that is not in the cache. */
  put(key: string, signatures: readonly Uint8Array[], untilMs: number): void {
    this.entries.set(key, { signatures, untilMs })
    this.bytes += key.length
    for (const oldest of this.entries.keys()) {
      const isOverfull = this.entries.size > this.entriesMax
      if (!isOverfull && this.bytes <= this.entriesMax * BYTES_PER_ENTRY_MAX) return
      this.entries.delete(oldest)
      this.bytes -= oldest.length
    }
  }
}
