/**
 * The gateway as a whole: what a request costs beside bare servers, CoreDNS and dnsdist, how soon a
 * change is answered, how a cold one begins, and how much it holds.
 * @module
 */
import { nameOf } from '../src/dns/names/name.ts'
import { TYPE } from '../src/dns/names/rr-type.ts'
import { writeQuery } from '../src/dns/wire/write-query.ts'
import { BUN, missingRuntime } from '../test/runtimes.ts'
import type { GeneratedService } from './cluster-objects.ts'
import { FollowedCluster } from './followed-cluster.ts'
import { coldRows } from './gateway-cold.ts'
import { prepareLoad } from './gateway-load.ts'
import { memoryRows } from './gateway-memory.ts'
import { type Published, requestRows } from './gateway-requests.ts'
import { propagationRows } from './propagation.ts'
import type { Row } from './row.ts'
import { prepareProgram } from './server-processes.ts'
import { startupRows } from './startup.ts'

const RECORDS = process.env.BENCH_QUICK === '1' ? 10_000 : 100_000
const QUESTIONS = 1024
/** Namespaces that the token sees. */
const NAMESPACES = 90

/** Measures. */
export async function benchGateway(): Promise<Row[]> {
  const missing =
    prepareLoad() ??
    prepareProgram('dnsdist', 'dnsdist') ??
    prepareProgram('nginx', 'nginx') ??
    (missingRuntime(BUN) || undefined)
  if (missing !== undefined) throw new Error(missing)
  const cluster = new FollowedCluster(RECORDS)
  return [
    ...(await requestRows(publishedOf(cluster))),
    ...(await coldRows()),
    ...(await memoryRows()),
    ...startupRows(),
    ...(await propagationRows(cluster)),
  ]
}

function publishedOf(cluster: FollowedCluster): Published {
  const services = cluster.services.filter(({ isHeadless }) => !isHeadless).slice(0, QUESTIONS)
  const namespaces = [...new Set(services.map(({ namespace }) => namespace))].slice(0, NAMESPACES)
  const messages = services
    .filter(({ namespace }) => namespaces.includes(namespace))
    .map((service) => writeQuery({ name: nameOf(nameText(service)), type: TYPE.A }))
  const hosts = services.map((one) => `${one.clusterIPs[0]} ${nameText(one)}\n`).join('')
  return { built: cluster.build(), messages, namespaces, hosts }
}

function nameText({ name, namespace }: GeneratedService): string {
  return `${name}.${namespace}.svc.cluster.local`
}
