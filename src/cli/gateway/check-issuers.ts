/**
 * `kubedoh check --issuers`: reports what is wrong with a list of issuers before a gateway gets it.
 * @module
 */
import { readClusterIssuers } from '../../gateway/config/cluster-issuers.ts'
import { adviseOnIssuers } from '../../gateway/config/issuer-advice.ts'
import { type IssuerConfig, IssuersError, readIssuers } from '../../gateway/config/issuers.ts'
import { CommandError, type Output } from '../../server/node/output.ts'
import { readIssuersFile } from './issuers-file.ts'

/**
 * Reads a list as the gateway would, and prints its warnings: that of the variable ISSUERS, or that
 * of a cluster in the directory.
 * @param cluster the cluster's ID; '' for the variable
 * @throws {CommandError} with the first error and its place in the JSON
 */
export function runCheckIssuers(path: string, cluster: string, { stdout, stderr }: Output): void {
  const issuers = readFor(path, cluster)
  const warnings = adviseOnIssuers(issuers, cluster === '' ? 'ISSUERS' : 'issuers')
  for (const warning of warnings) stderr.write(`${path}: warning: ${warning}\n`)
  const rules = issuers.reduce((sum, one) => sum + one.rules.length, 0)
  const verdict = warnings.length === 0 ? 'no problems' : countOf(warnings.length, 'warning')
  const counts = `${countOf(issuers.length, 'issuer')}, ${countOf(rules, 'rule')}`
  stdout.write(`${path}: ${counts}, ${verdict}\n`)
}

function readFor(path: string, cluster: string): readonly IssuerConfig[] {
  const value = readIssuersFile(path)
  try {
    return cluster === '' ? readIssuers(JSON.stringify(value)) : readClusterIssuers(cluster, value)
  } catch (error) {
    if (!(error instanceof IssuersError)) throw error
    throw new CommandError(`${path}: ${error.message}`, { cause: error })
  }
}

function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
