/**
 * The gateway to which `kubedoh export` publishes, and the key with which it signs.
 * @module
 */
import type { GatewayClientOptions } from '../../exporter/gateway-client.ts'
import { CommandError } from '../../server/node/output.ts'
import { requireTextFile } from '../../server/node/read-files.ts'
import { CLUSTER_ID } from '../../snapshot/format/manifest.ts'
import { importPrivateKey, type PrivateKey } from '../../snapshot/format/signature.ts'
import type { Input } from '../flags/flags.ts'
import { readGatewayUrl, trimToken } from '../flags/operator-call.ts'

/** A gateway to publish to, and the key that signs what it gets. */
export type Destination = {
  readonly address: GatewayClientOptions
  readonly key: PrivateKey
}

/**
 * Reads the gateway of the flags, and the exporter's secrets for it.
 * @throws {CommandError} for an invalid identifier, URL or key, and without a token
 */
export async function readDestination(input: Input): Promise<Destination> {
  const address = gatewayOf(input)
  return { address, key: await readSigningKey(input, address.cluster) }
}

function gatewayOf(input: Input): GatewayClientOptions {
  const cluster = input.text('cluster')
  if (!CLUSTER_ID.test(cluster)) {
    throw new CommandError(`--cluster "${cluster}": use at most 63 characters of a-z, 0-9 and "-"`)
  }
  const token = trimToken(input.env('KUBEDOH_TOKEN'), 'KUBEDOH_TOKEN')
  if (token === '') throw new CommandError(`KUBEDOH_TOKEN is not set; ${keysHint(cluster)}`)
  return { url: readGatewayUrl(input), cluster, token }
}

async function readSigningKey(input: Input, cluster: string): Promise<PrivateKey> {
  const path = input.text('signing-key')
  const text = path === '' ? input.env('KUBEDOH_SIGNING_KEY') : requireTextFile(path)
  const from = path === '' ? 'KUBEDOH_SIGNING_KEY' : path
  if (text === '') throw new CommandError(`${from} is not set; ${keysHint(cluster)}`)
  const key = await importPrivateKey(text.trim())
  if (key !== undefined) return key
  throw new CommandError(`${from} is not an Ed25519 key as printed by "kubedoh keys ${cluster}"`)
}

function keysHint(cluster: string): string {
  return `create it with "kubedoh keys ${cluster}"`
}
