/**
 * What `kubedoh deploy` checks before it deploys: whether the Worker will start with its variables
 * and bindings, and for whom it resolves names.
 * @module
 */

import { readCorefile } from '../../corefile/parse-corefile.ts'
import { formatProblem, problemAt } from '../../corefile/problem.ts'
import type { ServerBlock } from '../../corefile/server-block.ts'
import {
  CLUSTER_READERS,
  GatewayConfigError,
  readGatewayConfig,
  withOnlyCluster,
} from '../../gateway/config/config.ts'
import { readJurisdiction, readLocation } from '../../gateway/config/location.ts'
import { readServiceScope } from '../../gateway/config/service-scope.ts'
import { readVariableFiles } from '../../gateway/config/variable-files.ts'
import { CommandError, type Output } from '../../server/node/output.ts'
import { checkCorefile, printFindings } from '../serve/check.ts'
import { findMissing, sectionPrefix, type WorkerEnvironment } from './environment.ts'
import { findOpenForward } from './open-resolver.ts'

/** Cloudflare's bound on one variable (developers.cloudflare.com/workers/platform/limits). */
const VARIABLE_BYTES_MAX = 5 * 1024

/**
 * Checks the variables as the Worker reads them, and prints warnings. Only Cloudflare knows the
 * value of a secret, so a Corefile in one is not checked.
 * @throws {GatewayConfigError | ConfigError} if the Worker would answer 503 to every query
 * @throws {CommandError} if it lacks a variable or a binding, or is an open resolver
 */
export async function checkDeployment(
  environment: WorkerEnvironment,
  output: Output,
): Promise<void> {
  const { vars: variables } = environment
  for (const [name, value] of Object.entries(variables)) checkSize(name, value)
  readLocation(variables.CLUSTER_LOCATION)
  readJurisdiction(variables.JURISDICTION)
  readServiceScope(variables.SERVICE_SCOPE)
  const { COREFILE: text } = variables
  if (typeof text !== 'string') {
    checkPresence(environment, ['COREFILE', 'CLUSTERS'])
    output.stderr.write('warning: COREFILE is not in [vars]; it is not checked\n')
    return
  }
  const files = readVariableFiles(variables)
  const { blocks, ...others } = readCorefile(text, 'COREFILE', files.source)
  const known = variables.CLUSTERS === undefined ? undefined : await clustersOf(variables)
  const corefile = { ...others, blocks: [...withOnlyCluster(blocks, known ?? [])] }
  const place = { folder: '/', host: files, isToCopy: false, ...(known && { clusters: known }) }
  const findings = await checkCorefile(corefile, place, 'worker')
  if (findings.problems.length === 0) {
    checkPresence(environment, readsCluster(blocks) ? ['CLUSTERS'] : [])
    checkOpenness(environment, blocks)
  }
  printFindings('COREFILE', findings, output)
  await readGatewayConfig(variables, { file: 'COREFILE', source: files.source })
}

/** Returns the clusters of a configuration whose Corefile does not matter. */
async function clustersOf({ CLUSTERS }: Readonly<Record<string, unknown>>): Promise<string[]> {
  const variables = { COREFILE: '. {\n}\n', CLUSTERS: String(CLUSTERS) }
  return [...(await readGatewayConfig(variables)).clusters.keys()]
}

function readsCluster(blocks: readonly ServerBlock[]): boolean {
  return blocks.some(({ directives }) => directives.some(({ name }) => CLUSTER_READERS.has(name)))
}

function checkPresence(environment: WorkerEnvironment, names: readonly string[]): void {
  const missing = findMissing(environment, names)
  if (missing !== undefined) throw new CommandError(missing)
}

function checkOpenness(environment: WorkerEnvironment, blocks: readonly ServerBlock[]): void {
  const { PUBLIC, PUBLIC_RECURSE } = environment.vars
  if (PUBLIC !== 'true' || PUBLIC_RECURSE === 'true') return
  const open = findOpenForward(blocks)
  if (open === undefined) return
  const section = `[${sectionPrefix(environment)}vars]`
  const message = `with PUBLIC = "true" this resolves every name for everybody, an open resolver; \
forward single zones, add a closed "acl", or set PUBLIC_RECURSE = "true" in ${section}`
  throw new CommandError(formatProblem(problemAt(open, message)))
}

function checkSize(name: string, value: unknown): void {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const bytes = Buffer.byteLength(text)
  if (bytes <= VARIABLE_BYTES_MAX) return
  const instead = name.startsWith('FILES') ? `; move files to another one, such as FILES_2` : ''
  throw new GatewayConfigError(
    `${name} has ${bytes} bytes, and Cloudflare takes ${VARIABLE_BYTES_MAX}${instead}`,
  )
}
