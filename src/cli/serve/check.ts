/**
 * `kubedoh check`: reports every error and warning in a Corefile without starting a server.
 * @module
 */
import { dirname } from 'node:path'
import { type Corefile, readCorefile } from '../../corefile/parse-corefile.ts'
import {
  ConfigError,
  formatProblem,
  type Position,
  type Problem,
  problemAt,
  sortProblems,
} from '../../corefile/problem.ts'
import type { ServerBlock, Word } from '../../corefile/server-block.ts'
import { compileGatewayCorefile, gatewayWarnings } from '../../gateway/config/compile-corefile.ts'
import { adviseOn } from '../../resolver/chain/advice.ts'
import { createResolver } from '../../resolver/chain/create-resolver.ts'
import type { Resolver } from '../../resolver/chain/resolver.ts'
import type { PluginHost } from '../../resolver/contract/plugin-entry.ts'
import { type DefaultPorts, STANDARD_PORTS } from '../../resolver/contract/server-address.ts'
import { ALL_PLUGINS } from '../../resolver/plugins/all-plugins.ts'
import { CONFIG_FILES, tryCorefile } from '../../server/node/load-corefile.ts'
import { CommandError, type Output } from '../../server/node/output.ts'
import type { Input } from '../flags/flags.ts'
import { runCheckIssuers } from '../gateway/check-issuers.ts'
import { type CheckedPlace, type CheckTarget, checkingHost } from './checking-host.ts'

/**
 * Compiles the Corefile as the target would and prints its warnings; or reads a list of issuers.
 * @throws {ConfigError} with all errors and warnings if there is an error
 */
export async function runCheck(input: Input, output: Output): Promise<void> {
  if (input.isSet('plugins')) {
    // CoreDNS prints `dns.NAME`.
    output.stdout.write(
      [...ALL_PLUGINS.keys()]
        .sort()
        .map((name) => `dns.${name}\n`)
        .join(''),
    )
    return
  }
  const issuers = input.text('issuers')
  if (issuers !== '') return runCheckIssuers(issuers, input.text('cluster'), output)
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
export type Findings = {
  readonly problems: readonly Problem[]
  readonly warnings: readonly Problem[]
  /** Words that name files which this machine lacks. */
  readonly missing: readonly Word[]
  /** Number of server blocks. */
  readonly count: number
}

/** A Corefile that a command is about to write. */
type GeneratedCorefile = {
  readonly text: string
  /** Where it will be: imports and other paths are relative to its folder. */
  readonly path: string
  /** The port of zones without one; 53 by default. */
  readonly dnsPort?: number
  /** Files beside it, by name, that are written with it. */
  readonly files?: Readonly<Record<string, string>>
}

/** Returns the errors of a Corefile before it replaces the one that `serve` reads. */
export async function problemsOfGenerated(
  generated: GeneratedCorefile,
): Promise<readonly Problem[]> {
  return (await checkGenerated(generated)).problems
}

/**
 * Returns the errors of a Corefile for another machine, and the files that this one lacks, without
 * which it cannot be checked as a whole.
 */
export async function problemsElsewhere(
  generated: GeneratedCorefile,
): Promise<{ readonly problems: readonly Problem[]; readonly missing: readonly string[] }> {
  const { problems, warnings, missing } = await checkGenerated(generated)
  const missingAt = ({ line, column }: Position): Word | undefined =>
    missing.find((word) => word.line === line && word.column === column)
  return {
    problems: problems.filter((problem) => missingAt(problem) === undefined),
    missing: [...new Set([...problems, ...warnings].flatMap((one) => missingAt(one)?.text ?? []))],
  }
}

function checkGenerated({ text, path, dnsPort, files = {} }: GeneratedCorefile): Promise<Findings> {
  const corefile = readCorefile(text, path, CONFIG_FILES)
  const folder = dirname(path)
  const place = { folder, isToCopy: false, ...(dnsPort !== undefined && { dnsPort }), files }
  return checkCorefile(corefile, place, 'serve')
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
  const ports = { ...STANDARD_PORTS, dns: place.dnsPort ?? STANDARD_PORTS.dns }
  const found = (): Problem[] => [
    ...warnings,
    ...(isGateway ? gatewayWarnings(blocks, host) : []),
    ...checking.warnings(blocks),
  ]
  try {
    const compiled = isGateway ? compileGatewayCorefile(blocks, host) : compile(blocks, host, ports)
    const { notices } = await compiled
    const rest = { missing: checking.missing(blocks), count }
    if (problems.length > 0) return { problems, warnings: [...found(), ...notices], ...rest }
    const advice = adviseOn({ blocks, plugins: host.plugins, readText: host.readText })
    return { problems, warnings: [...found(), ...notices, ...advice], ...rest }
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const rest = { missing: checking.missing(blocks), count }
    return { problems: [...problems, ...error.problems], warnings: found(), ...rest }
  }
}

async function compile(
  blocks: readonly ServerBlock[],
  host: PluginHost,
  ports: DefaultPorts,
): Promise<Resolver> {
  const resolver = createResolver(blocks, host, ports)
  await resolver.prepare()
  return resolver
}

function countOf(count: number, what: string): string {
  return count === 1 ? `1 ${what}` : `${count} ${what}s`
}
