/**
 * A gateway that answers as a test scripts it.
 * @module
 */
import type {
  GatewayClient,
  ManifestResult,
  PublishedState,
} from '../../../src/exporter/gateway-client.ts'
import { sha256Hex } from '../../../src/snapshot/format/signature.ts'
import { settle } from './fake-clock.ts'

/** A manifest as it was put. */
export type PutManifest = {
  readonly bytes: Uint8Array
  readonly signature: string
  readonly expected: string | undefined
}

/** The gateway. It stores a manifest as `"e1"`, the next as `"e2"`, unless scripted otherwise. */
export class ScriptedGateway implements GatewayClient {
  /** The requests, in order: `state`, `manifest`, `shard SHA256`, `publication COUNT`. */
  readonly calls: string[] = []
  readonly manifests: PutManifest[] = []
  readonly shards: Map<string, Uint8Array> = new Map()
  /** Most shards that were put at one time. */
  uploadsMost = 0
  /** Whether it takes shards and manifest in one request; an older gateway does not. */
  takesPublications = false
  /** Versions of snapshots that it reads. */
  versions: readonly number[] = [1]
  /** What is published already. */
  published: PublishedState | undefined
  private readonly results: (ManifestResult | Error)[] = []
  private readonly failures: Error[] = []
  private readonly stateFailures: Error[] = []
  private uploads = 0
  private stored = 0

  /** Says what becomes of the next manifests. */
  answer(...results: readonly (ManifestResult | Error)[]): void {
    this.results.push(...results)
  }

  /** Lets the next reads of the state fail. */
  failStates(...failures: readonly Error[]): void {
    this.stateFailures.push(...failures)
  }

  /** Lets the next shards fail. */
  failShards(...failures: readonly Error[]): void {
    this.failures.push(...failures)
  }

  readonly state: GatewayClient['state'] = () => {
    this.calls.push('state')
    const failure = this.stateFailures.shift()
    return failure === undefined ? Promise.resolve(this.published) : Promise.reject(failure)
  }

  readonly reads: GatewayClient['reads'] = () => this.versions

  readonly putShard: GatewayClient['putShard'] = async (sha256, bytes) => {
    this.calls.push(`shard ${sha256}`)
    this.uploads++
    this.uploadsMost = Math.max(this.uploadsMost, this.uploads)
    await settle()
    this.uploads--
    const failure = this.failures.shift()
    if (failure !== undefined) throw failure
    this.shards.set(sha256, bytes)
  }

  readonly putManifest: GatewayClient['putManifest'] = (bytes, signature, expected) => {
    this.calls.push('manifest')
    this.manifests.push({ bytes, signature, expected })
    const result = this.results.shift() ?? this.store()
    return result instanceof Error ? Promise.reject(result) : Promise.resolve(result)
  }

  readonly putPublication: GatewayClient['putPublication'] = async (sent, ...conditions) => {
    if (!this.takesPublications) return undefined
    this.calls.push(`publication ${sent.shards.length}`)
    for (const shard of sent.shards) this.shards.set(await sha256Hex(shard), shard)
    const result = await this.putManifest(sent.manifest, ...conditions)
    this.calls.pop()
    return result
  }

  private store(): ManifestResult {
    this.stored++
    return { kind: 'stored', etag: `"e${this.stored}"` }
  }
}
