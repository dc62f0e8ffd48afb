/**
 * A gateway with tokens whose cluster has a Service in each of two namespaces.
 * @module
 */

import { join } from 'node:path'
import { createClusterKeys } from '../../../src/exporter/cluster-keys.ts'
import { hashToken } from '../../../src/gateway/access/token.ts'
import { parseManifest } from '../../../src/snapshot/format/manifest.ts'
import { ROOT } from '../../docs/pages.ts'
import type { Workshop } from './recipes.ts'

const [ADMIN, REPLICA] = ['the-operator', 'the-replica']
const COREFILE = 'cluster.local {\n  kubernetes {\n    cluster prod\n  }\n}\n'
const OBJECTS = JSON.stringify({
  apiVersion: 'v1',
  kind: 'List',
  items: ['shop', 'bank'].flatMap((namespace) => [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'web', namespace },
      spec: { clusterIP: '10.96.0.80', clusterIPs: ['10.96.0.80'], ports: [{ port: 80 }] },
    },
  ]),
})

/** What clients of the gateway have. */
export type Published = {
  readonly port: number
  /** Headers with a token that sees all, one of the namespace `bank` only, and a replica's. */
  readonly all: string
  readonly bank: string
  readonly replica: string
  /** The path of a shard. */
  readonly shard: string
}

/** Starts a gateway by the recipe, publishes the cluster, and makes tokens. */
export async function publish(shop: Workshop): Promise<Published> {
  const { token, signingKey, publicKey, tokenSha256 } = await createClusterKeys()
  const port = await shop.runGateway(
    'The gateway',
    COREFILE,
    {
      CLUSTERS: JSON.stringify({ prod: { publicKey, tokenSha256 } }),
      ADMIN_TOKEN_SHA256: await hashToken(ADMIN),
      REPLICA_TOKEN_SHA256: await hashToken(REPLICA),
    },
    { 'PUBLIC=true ': '' },
  )
  const gateway = `http://127.0.0.1:${port}`
  const objects = ['--objects', shop.write('objects.json', OBJECTS), '--cluster', 'prod', '--once']
  const command = [join(ROOT, 'bin/kubedoh'), 'export', ...objects, '--gateway', gateway]
  const keys = { KUBEDOH_TOKEN: token, KUBEDOH_SIGNING_KEY: signingKey }
  await shop.run(command, /^ready/, keys)
  const make = async (wish: object): Promise<string> => {
    const headers = { authorization: `Bearer ${ADMIN}` }
    const body = JSON.stringify({ name: 'a', ...wish })
    const response = await fetch(`${gateway}/v1/tokens`, { method: 'POST', headers, body })
    const { token: made }: { token?: string } = JSON.parse(await response.text())
    if (made === undefined) throw new Error(`no token: ${response.status}`)
    return `Authorization: Bearer ${made}`
  }
  const replica = `Authorization: Bearer ${REPLICA}`
  const manifest = await fetch(`${gateway}/v1/clusters/prod/manifest`, {
    headers: { authorization: `Bearer ${REPLICA}` },
  })
  const [{ sha256 } = { sha256: '' }] = parseManifest(await manifest.bytes()).shards
  const shard = `/v1/clusters/prod/shards/${sha256}`
  return { port, all: await make({}), bank: await make({ namespaces: ['bank'] }), replica, shard }
}
