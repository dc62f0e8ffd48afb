/**
 * What `kubedoh deploy` checks before it deploys: whether the Worker will start with its variables.
 * @module
 */

import { readCorefile } from '../../corefile/parse-corefile.ts'
import {
  GatewayConfigError,
  readGatewayConfig,
  withOnlyCluster,
} from '../../gateway/config/config.ts'
import { readVariableFiles } from '../../gateway/config/variable-files.ts'
import type { Output } from '../../server/node/output.ts'
import { checkCorefile, printFindings } from '../serve/check.ts'

/** Cloudflare's bound on one variable (developers.cloudflare.com/workers/platform/limits). */
const VARIABLE_BYTES_MAX = 5 * 1024

/**
 * Checks the variables as the Worker reads them, and prints warnings. A variable that is missing
 * may be a secret, whose value only Cloudflare knows.
 * @throws {GatewayConfigError | ConfigError} if the Worker would answer 503 to every query
 */
export async function checkDeployment(
  variables: Readonly<Record<string, unknown>>,
  output: Output,
): Promise<void> {
  for (const [name, value] of Object.entries(variables)) checkSize(name, value)
  const files = readVariableFiles(variables)
  const { COREFILE: text } = variables
  if (typeof text !== 'string') {
    output.stderr.write('warning: COREFILE is not in [vars]; it is not checked\n')
    return
  }
  const { blocks, ...others } = readCorefile(text, 'COREFILE', files.source)
  const known = variables.CLUSTERS === undefined ? undefined : await clustersOf(variables)
  const corefile = { ...others, blocks: [...withOnlyCluster(blocks, known ?? [])] }
  const place = { folder: '/', host: files, isToCopy: false, ...(known && { clusters: known }) }
  printFindings('COREFILE', await checkCorefile(corefile, place, 'worker'), output)
  await readGatewayConfig(variables, { file: 'COREFILE', source: files.source })
}

/** Returns the clusters of a configuration whose Corefile does not matter. */
async function clustersOf({ CLUSTERS }: Readonly<Record<string, unknown>>): Promise<string[]> {
  const variables = { COREFILE: '. {\n}\n', CLUSTERS: String(CLUSTERS) }
  return [...(await readGatewayConfig(variables)).clusters.keys()]
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
