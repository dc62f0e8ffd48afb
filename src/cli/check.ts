/**
 * `kubedoh check`: reports every error and warning in a Corefile without starting a server.
 * @module
 */
import { dirname } from 'node:path'
import { adviseOn } from '../chain/advice.ts'
import { createResolver } from '../chain/create-resolver.ts'
import type { PluginHost } from '../chain/plugin-entry.ts'
import type { Resolver } from '../chain/resolver.ts'
import type { Corefile } from '../corefile/parse-corefile.ts'
import {
  ConfigError,
  formatProblem,
  type Problem,
  problemAt,
  sortProblems,
} from '../corefile/problem.ts'
import type { ServerBlock } from '../corefile/server-block.ts'
import { compileGatewayCorefile, gatewayWarnings } from '../gateway/compile-corefile.ts'
import { tryCorefile } from '../node/load-corefile.ts'
import { CommandError, type Output } from '../node/output.ts'
import { type CheckedPlace, type CheckTarget, checkingHost } from './checking-host.ts'
import type { Input } from './flags.ts'

/**
 * Compiles the Corefile as the target would and prints its warnings.
 * @throws {ConfigError} with all errors and warnings if there is an error
 */
export async function runCheck(input: Input, output: Output): Promise<void> {
  const [path = 'Corefile'] = input.args
  const files = input.text('files')
  const target = targetOf(input.text('for'))
  const folder = files === '' ? dirname(path) : files
  const isToCopy = target === 'worker'
  const findings = await checkCorefile(tryCorefile(path), { folder, isToCopy }, target)
  printFindings(path, findings, output)
}

/** Prints the warnings. @throws {ConfigError} with all errors and warnings if there is an error */
export function printFindings(path: string, findings: Findings, output: Output): void {
  const { problems, warnings, count } = findings
  const marked = warnings.map((one) => problemAt(one, `warning: ${one.message}`))
  const lines = sortProblems([...problems, ...marked], path)
  if (problems.length > 0) throw new ConfigError(lines)
  for (const line of lines) output.stderr.write(`${formatProblem(line)}\n`)
  const verdict = lines.length === 0 ? 'no problems' : countOf(lines.length, 'warning')
  output.stdout.write(`${path}: ${countOf(count, 'server block')}, ${verdict}\n`)
}

function targetOf(text: string): CheckTarget {
  if (text === '' || text === 'serve') return 'serve'
  if (text === 'gateway' || text === 'worker') return text
  throw new CommandError(`--for is "${text}", expected serve, gateway or worker`)
}

/** The result of a check. */
type Findings = {
  readonly problems: readonly Problem[]
  readonly warnings: readonly Problem[]
  /** Number of server blocks. */
  readonly count: number
}

/** Compiles a Corefile as the target would. */
export async function checkCorefile(
  { blocks, problems, warnings }: Corefile,
  place: CheckedPlace,
  target: CheckTarget,
): Promise<Findings> {
  const count = blocks.length
  const checking = checkingHost(place, target)
  const { host } = checking
  const isGateway = target !== 'serve'
  const found = (): Problem[] => [
    ...warnings,
    ...(isGateway ? gatewayWarnings(blocks, host) : []),
    ...checking.warnings(blocks),
  ]
  try {
    const { notices } = await (isGateway ? compileGatewayCorefile : compile)(blocks, host)
    if (problems.length > 0) return { problems, warnings: [...found(), ...notices], count }
    const advice = adviseOn({ blocks, plugins: host.plugins, readText: host.readText })
    return { problems, warnings: [...found(), ...notices, ...advice], count }
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return { problems: [...problems, ...error.problems], warnings: found(), count }
  }
}

async function compile(blocks: readonly ServerBlock[], host: PluginHost): Promise<Resolver> {
  const resolver = createResolver(blocks, host)
  await resolver.prepare()
  return resolver
}

function countOf(count: number, what: string): string {
  return count === 1 ? `1 ${what}` : `${count} ${what}s`
}
