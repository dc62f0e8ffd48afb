/**
 * The cluster that `kubedoh gateway` follows itself, by its API server: an exporter in the same
 * process, which publishes to a store in memory. Its keys are new in each process, and leave none.
 * @module
 */
import { isRecord, parseJson } from '../../dns/bytes/unknown.ts'
import { Metrics } from '../../dns/telemetry/metrics.ts'
import { createClusterKeys } from '../../exporter/cluster-keys.ts'
import type { GatewayVariables } from '../../gateway/config/config.ts'
import { HttpError } from '../../gateway/doh/http-error.ts'
import {
  type ClusterStore,
  createMemoryStore,
  type GatewayStore,
} from '../../gateway/snapshots/store.ts'
import type { GatewayServer } from '../../server/gateway/node-gateway.ts'
import { CommandError, type Output } from '../../server/node/output.ts'
import { CLUSTER_ID } from '../../snapshot/format/manifest.ts'
import { importPrivateKey } from '../../snapshot/format/signature.ts'
import { type RunningExport, startExport } from '../export/export.ts'
import type { Input } from '../flags/flags.ts'

/** Of this process: where its requests to itself come from, and the URL that they name. */
const ADDRESS = '127.0.0.1'
const URL_OF_SELF = `http://${ADDRESS}`
/** The newest generation, and the one before, which readers may still load. */
const GENERATIONS_MAX = 2

/** The cluster of KUBEDOH_CLUSTER. */
export class OwnCluster {
  /** Where the gateway and its exporter count. */
  readonly metrics: Metrics = new Metrics()
  private readonly id: string
  private readonly input: Input
  private readonly keys: Awaited<ReturnType<typeof createClusterKeys>>
  private running: RunningExport | undefined
  private isRead = false

  /**
   * Reads KUBEDOH_CLUSTER.
   * @throws {CommandError} if it is invalid, or with `--follow`
   */
  static async read(input: Input): Promise<OwnCluster> {
    const id = input.env('KUBEDOH_CLUSTER')
    if (!CLUSTER_ID.test(id)) {
      throw new CommandError(`KUBEDOH_CLUSTER "${id}": use at most 63 of a-z, 0-9 and "-"`)
    }
    if (input.isSet('follow')) {
      const why = 'a replica has the clusters of its primary'
      throw new CommandError(`--follow and KUBEDOH_CLUSTER exclude each other: ${why}`)
    }
    return new OwnCluster(id, input, await createClusterKeys())
  }

  private constructor(id: string, input: Input, keys: OwnCluster['keys']) {
    this.id = id
    this.input = input
    this.keys = keys
  }

  /**
   * Whether the gateway has the names, and the ClientTokens if nobody else sends them. Stays
   * true.
   */
  get hasRead(): boolean {
    return this.isRead
  }

  /**
   * Adds the cluster to the gateway's variables.
   * @throws {CommandError} if CLUSTERS has it, too
   */
  addTo(variables: GatewayVariables): GatewayVariables {
    const { publicKey, tokenSha256 } = this.keys
    const { CLUSTERS: text = '', CLIENT_TOKEN_CLUSTERS: objects = '' } = variables
    const clusters = text.trim() === '' ? {} : parseJson(text)
    // What is no object is reported as without this cluster.
    if (!isRecord(clusters)) return variables
    if (Object.hasOwn(clusters, this.id)) {
      const next = 'remove it from one of the two'
      throw new CommandError(`CLUSTERS has the cluster "${this.id}" of KUBEDOH_CLUSTER; ${next}`)
    }
    const all = { ...clusters, [this.id]: { publicKey, tokenSha256 } }
    const isTaken = this.input.env('KUBEDOH_CLIENT_TOKENS') !== ''
    return {
      ...variables,
      CLUSTERS: JSON.stringify(all),
      ...(isTaken && { CLIENT_TOKEN_CLUSTERS: objects ? `${objects},${this.id}` : this.id }),
    }
  }

  /** Returns a store that has the cluster in memory, and all else as the given one. */
  storeBeside(store: GatewayStore): GatewayStore {
    const { clusterStore } = store
    return { ...store, clusterStore: (id) => (id === this.id ? ownStore() : clusterStore(id)) }
  }

  /**
   * Returns a store in memory alone: several gateways, each with a memory of its own, answer alike.
   * So it refuses what only one of them would know.
   */
  storeInMemory({ clusterStore, tokenStore }: GatewayStore): GatewayStore {
    const next = 'create a ClientToken object, or run it with --store file:FOLDER'
    const message = `This gateway keeps no tokens; ${next}`
    const add = () => Promise.reject(new HttpError(409, 'no_store', message))
    return this.storeBeside({ clusterStore, tokenStore: { ...tokenStore, add, addAll: add } })
  }

  /**
   * Starts to follow the API server.
   * @throws {CommandError} for a Corefile, a kubeconfig or a variable that cannot be used
   * @throws {ConfigError} for a directive that cannot be exported
   */
  async start(server: Pick<GatewayServer, 'fetch'>, output: Output): Promise<void> {
    const { token, signingKey } = this.keys
    const key = await importPrivateKey(signingKey)
    if (key === undefined) throw new TypeError('the signing key was created here')
    const address = {
      url: URL_OF_SELF,
      cluster: this.id,
      token,
      fetch: (...request: ConstructorParameters<typeof Request>) =>
        server.fetch(new Request(...request), ADDRESS),
    }
    const flags = new Map([
      ['cluster', [this.id]],
      ['conf', [this.input.env('KUBEDOH_CLUSTER_COREFILE')]],
      ['listen', ['']],
    ])
    const sharesTokens = this.input.text('store') !== 'memory'
    const own = { address, key, metrics: this.metrics, sharesTokens }
    this.running = await startExport(this.input.withFlags(flags), output, own)
    void this.running.ready.then(() => {
      this.isRead = true
    })
  }

  /** Stops to follow it. */
  async stop(): Promise<void> {
    await this.running?.stop()
  }
}

function ownStore(): ClusterStore {
  const message = 'The gateway follows the API server of this cluster; no generation can be pinned'
  const pin = () => Promise.reject(new HttpError(409, 'followed', message))
  return { ...createMemoryStore(), generationsMax: GENERATIONS_MAX, pin }
}
