/**
 * The Worker in workerd and a cluster that publishes to it.
 * @module
 */
import assert from 'node:assert/strict'
import {
  type LocalGateway,
  type LocalGatewayOptions,
  startGateway,
} from '../../build/local-gateway.ts'
import { encodeBase64url } from '../../src/dns/bytes/base64url.ts'
import { createGatewayClient, type GatewayClient } from '../../src/exporter/gateway-client.ts'
import type { GatewayVariables } from '../../src/gateway/config/config.ts'
import { sha256Hex } from '../../src/snapshot/format/signature.ts'
import type { keys } from '../cluster/follow/memory-gateway.ts'
import { type Published, snapshotOf } from '../gateway/publishing.ts'
import { formatReply, parseQuestion } from '../message-text.ts'

const TOKEN = 'the-token-of-the-exporter'
const COREFILE = `. {
  errors
  kubernetes shop.example.org cluster.local {
    cluster shop
  }
}
`

type SnapshotFields = NonNullable<Parameters<typeof snapshotOf>[2]>

/** A gateway that runs, and who publishes there. */
export class PublishingGateway {
  readonly gateway: LocalGateway
  readonly client: GatewayClient
  private readonly privateKey: CryptoKey

  private constructor(gateway: LocalGateway, privateKey: CryptoKey) {
    const options = { url: gateway.url, cluster: 'shop', token: TOKEN }
    this.gateway = gateway
    this.client = createGatewayClient(options)
    this.privateKey = privateKey
  }

  /** Starts the gateway; with the keys and the folder of one before, its successor. */
  static async start(
    pair: Awaited<ReturnType<typeof keys>>,
    storage?: string,
    more: Partial<GatewayVariables> = {},
    run: Pick<LocalGatewayOptions, 'entry' | 'onLog'> = {},
  ): Promise<PublishingGateway> {
    const tokenSha256 = await sha256Hex(new TextEncoder().encode(TOKEN))
    const shop = { publicKey: pair.publicKeyText, tokenSha256 }
    const variables = { COREFILE, PUBLIC: 'true', CLUSTERS: JSON.stringify({ shop }), ...more }
    const gateway = await startGateway({
      variables,
      port: 0,
      ...run,
      ...(storage === undefined ? {} : { storage }),
    })
    return new PublishingGateway(gateway, pair.privateKey)
  }

  /** Makes a snapshot of one set of records, as of now. */
  snapshot(lines: string, generation: number, more: SnapshotFields = {}): Promise<Published> {
    const time = new Date().toISOString()
    return snapshotOf(this.privateKey, [lines], { generation, time, ...more })
  }

  /** Uploads the shards of a snapshot. */
  async putShards({ shards }: Published): Promise<void> {
    for (const [sha256, bytes] of shards) await this.client.putShard(sha256, bytes)
  }

  /** Publishes a set of records as the first snapshot, or in place of the one with a tag. */
  async publish(
    lines: string,
    generation: number,
    etag?: string,
    more?: SnapshotFields,
  ): Promise<string> {
    const snapshot = await this.snapshot(lines, generation, more)
    await this.putShards(snapshot)
    const { bytes, signature } = snapshot.signed
    const result = await this.client.putManifest(bytes, signature, etag)
    assert.equal(result.kind, 'stored')
    return result.kind === 'stored' ? result.etag : ''
  }

  /** Asks by GET and returns the reply's lines. */
  async ask(question: string): Promise<string[]> {
    const dns = encodeBase64url(parseQuestion(question).message)
    const response = await fetch(`${this.gateway.url}/dns-query?dns=${dns}`)
    assert.equal(response.status, 200)
    return formatReply(new Uint8Array(await response.arrayBuffer()))
  }

  /** Ends the gateway. */
  stop(): Promise<void> {
    return this.gateway.stop()
  }
}
