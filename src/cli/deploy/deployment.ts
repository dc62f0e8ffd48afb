/**
 * What `kubedoh deploy` checks before it deploys: whether the Worker will start with its variables
 * and bindings.
 * @module
 */

import { readCorefile } from '../../corefile/parse-corefile.ts'
import type { ServerBlock } from '../../corefile/server-block.ts'
import {
  CLUSTER_READERS,
  GatewayConfigError,
  readGatewayConfig,
  withOnlyCluster,
} from '../../gateway/config/config.ts'
import { readVariableFiles } from '../../gateway/config/variable-files.ts'
import { CommandError, type Output } from '../../server/node/output.ts'
import { checkCorefile, printFindings } from '../serve/check.ts'
import { findMissing, type WorkerEnvironment } from './environment.ts'

/** Cloudflare's bound on one variable (developers.cloudflare.com/workers/platform/limits). */
const VARIABLE_BYTES_MAX = 5 * 1024

/**
 * Checks the variables as the Worker reads them, and prints warnings. Only Cloudflare knows the
 * value of a secret, so a Corefile in one is not checked.
 * @throws {GatewayConfigError | ConfigError} if the Worker would answer 503 to every query
 * @throws {CommandError} if it lacks a variable or a binding
 */
export async function checkDeployment(
  environment: WorkerEnvironment,
  output: Output,
): Promise<void> {
  const { vars: variables } = environment
  for (const [name, value] of Object.entries(variables)) checkSize(name, value)
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

function checkSize(name: string, value: unknown): void {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const bytes = Buffer.byteLength(text)
  if (bytes <= VARIABLE_BYTES_MAX) return
  const instead = name.startsWith('FILES') ? `; move files to another one, such as FILES_2` : ''
  throw new GatewayConfigError(
    `${name} has ${bytes} bytes, and Cloudflare takes ${VARIABLE_BYTES_MAX}${instead}`,
  )
}
