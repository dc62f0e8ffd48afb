/**
 * A publisher at a scripted gateway.
 * @module
 */
import assert from 'node:assert/strict'
import type { BuiltSnapshot } from '../../../src/cluster/follow/snapshot-builder.ts'
import {
  Publisher,
  type PublisherOptions,
  type PublishReport,
  type SnapshotFacts,
} from '../../../src/exporter/publisher.ts'
import { type Manifest, parseManifest } from '../../../src/snapshot/format/manifest.ts'
import { sha256Hex } from '../../../src/snapshot/format/signature.ts'
import { START_MS } from './fake-clock.ts'
import { keys } from './memory-gateway.ts'
import { ScriptedGateway } from './scripted-gateway.ts'

/** Keys of the exporter. */
export const pair: Awaited<ReturnType<typeof keys>> = await keys()

/** Returns a snapshot whose shards are texts: nobody opens them here. */
export function snapshot(
  shards: readonly string[],
  some: Partial<BuiltSnapshot> = {},
): BuiltSnapshot {
  return {
    shards: shards.map((text) => new TextEncoder().encode(text)),
    records: 7,
    ttlSeconds: 5,
    origins: ['cluster.local.'],
    warnings: [],
    ...some,
  }
}

/** Returns the hash of a shard's text. */
export function sha256(text: string): Promise<string> {
  return sha256Hex(new TextEncoder().encode(text))
}

/** A publisher, its gateway, and a clock to wind. */
export class Exporting {
  readonly gateway: ScriptedGateway = new ScriptedGateway()
  nowMs: number = START_MS
  /** Milliseconds that it waited, each time. */
  readonly waits: number[] = []
  private readonly publisher: Publisher

  /** @param options more options of the publisher */
  constructor(options: Pick<PublisherOptions, 'versions'> = {}) {
    this.publisher = new Publisher({
      cluster: 'shop',
      gateway: this.gateway,
      key: pair.privateKey,
      now: () => this.nowMs,
      random: () => 0.5,
      wait: async (delayMs) => {
        this.waits.push(delayMs)
      },
      ...options,
    })
  }

  /** Publishes what was confirmed now. */
  publish(
    built: BuiltSnapshot,
    confirmedMs: number = this.nowMs,
    some: Partial<SnapshotFacts> = {},
  ): Promise<PublishReport | undefined> {
    const facts = { sources: { services: '7' }, confirmedMs, ...some }
    return this.publisher.publish(built, facts)
  }

  /** Reads the gateway's state ahead. */
  prepare(): Promise<void> {
    return this.publisher.prepare(new AbortController().signal)
  }

  /** The requests since the last call, without hashes. */
  calls(): string[] {
    return this.gateway.calls.splice(0).map((call) => call.replace(/ .*/, ''))
  }

  /** The manifest that was put last, and the entity tag that it was to replace. */
  get last(): { manifest: Manifest; expected: string | undefined } {
    const put = this.gateway.manifests.at(-1)
    assert.ok(put)
    return { manifest: parseManifest(put.bytes), expected: put.expected }
  }
}
