/**
 * The Corefile of a node's cache, from a template with `__PILLAR__` placeholders and the ConfigMap
 * of kube-dns, as NodeLocal DNSCache generates it.
 * @module
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigError, formatProblem, type Problem } from '../../corefile/problem.ts'
import { errorText } from '../../dns/bytes/unknown.ts'
import type { Log } from '../../dns/telemetry/log.ts'
import { CommandError } from '../../server/node/output.ts'
import { readTextFile } from '../../server/node/read-files.ts'
import { writeWholeFile } from '../../server/node/whole-file.ts'
import { Settings } from '../convert/conversion.ts'
import { convertNodeLocal } from '../convert/nodelocal.ts'

/** Keys of the ConfigMap, each a file in its folder. */
const KEYS = ['stubDomains', 'upstreamNameservers']

/** Where the parts come from, and where the Corefile goes. */
export type NodeCorefileOptions = {
  /** The template; without one, the Corefile is used as it is. */
  readonly template: string
  readonly corefile: string
  /** Folder of the ConfigMap of kube-dns. */
  readonly configMap: string
  readonly addresses: readonly string[]
  readonly domain: string
  readonly dnsPort: number
  /** Address of the DNS Service behind the cache; '' if unknown. */
  readonly clusterDns: string
}

/** Returns the errors of a Corefile at the path of the options. */
export type CorefileCheck = (text: string) => Promise<readonly Problem[]>

/** A Corefile, and what could not be converted. */
export type Generated = {
  readonly text: string
  /** Errors of the template: with them, no server would start. */
  readonly problems: readonly Problem[]
  readonly notices: readonly string[]
  /** Why the ConfigMap was left out. */
  readonly configMapError: string | undefined
}

/**
 * Generates the Corefile; `undefined` if there is no template. Leaves out a ConfigMap that is
 * invalid, or with which no server would start, as NodeLocal DNSCache does.
 * @throws {ConversionError} for a template that cannot be filled
 */
export async function generateCorefile(
  options: NodeCorefileOptions,
  check: CorefileCheck,
): Promise<Generated | undefined> {
  const template = readTextFile(options.template)
  if (template === undefined) return undefined
  const data = Object.fromEntries(
    KEYS.flatMap((key) => {
      const text = readTextFile(join(options.configMap, key))
      return text === undefined ? [] : [[key, text] as const]
    }),
  )
  let configMapError: string | undefined
  try {
    const filled = fill(template, data, options)
    const problems = await check(filled.text)
    if (problems.length === 0) return { ...filled, problems, configMapError }
    if (Object.keys(data).length === 0) return { ...filled, problems, configMapError }
    configMapError = await blame(template, data, { options, check, problems })
  } catch (error) {
    configMapError = errorText(error)
  }
  const filled = fill(template, {}, options)
  const problems = await check(filled.text)
  // A broken template does not make the ConfigMap invalid.
  return { ...filled, problems, configMapError: problems.length > 0 ? undefined : configMapError }
}

/** Returns the first problem, after the key of the ConfigMap that causes it by itself, if any. */
async function blame(
  template: string,
  data: Readonly<Record<string, string>>,
  context: {
    readonly options: NodeCorefileOptions
    readonly check: CorefileCheck
    readonly problems: readonly Problem[]
  },
): Promise<string> {
  for (const [key, text] of Object.entries(data)) {
    const [problem] = await context.check(fill(template, { [key]: text }, context.options).text)
    if (problem !== undefined) return `${key}: ${problem.message}`
  }
  return `${KEYS.join(' and ')}: ${context.problems[0]?.message}`
}

/** What a generated Corefile needs of the command. */
type NodeCorefileContext = {
  readonly check: CorefileCheck
  readonly log: Log
  /** Counts an error. */
  readonly onError: () => void
}

/** The generated Corefile, written again when its parts change. */
export class NodeCorefile {
  private readonly options: NodeCorefileOptions
  private readonly context: NodeCorefileContext
  private logged: readonly string[] = []

  constructor(options: NodeCorefileOptions, context: NodeCorefileContext) {
    this.options = options
    this.context = context
  }

  /**
   * Writes the Corefile. If the template is broken, uses the one of the last start.
   * @throws {CommandError} if there is neither a template nor a Corefile
   * @throws {ConfigError} if neither of them is valid
   */
  async start(): Promise<void> {
    const { template, corefile } = this.options
    const before = readTextFile(corefile)
    const generated = await this.generate()
    if (generated === undefined && before === undefined) {
      throw new CommandError(`Cannot read ${template} or ${corefile}: no such file`)
    }
    if (generated === undefined) return
    if (generated.problems.length === 0) await this.write(generated)
    else if (before === undefined || (await this.context.check(before)).length > 0) {
      throw new ConfigError(generated.problems)
    }
  }

  /**
   * Returns whether the Corefile has changed. Logs and counts a failure, and keeps the Corefile
   * while the template or the ConfigMap is invalid.
   */
  async update(): Promise<boolean> {
    const { log, onError } = this.context
    try {
      const generated = await this.generate()
      const isValid = generated?.problems.length === 0 && generated.configMapError === undefined
      return isValid && (await this.write(generated))
    } catch (error) {
      onError()
      log({ level: 'error', message: `cannot generate a Corefile: ${errorText(error)}` })
      return false
    }
  }

  /** Logs what could not be converted once, until it changes. */
  private async generate(): Promise<Generated | undefined> {
    const { check, log, onError } = this.context
    const { configMap, corefile, template } = this.options
    const generated = await generateCorefile(this.options, check)
    if (generated === undefined) return undefined
    const { notices, configMapError, problems } = generated
    const messages = [...notices]
    if (configMapError !== undefined) messages.push(`ignored ${configMap}: ${configMapError}`)
    if (problems.length > 0) {
      const reasons = problems.map(formatProblem).join('\n')
      messages.push(`${template} gives no valid ${corefile}; the previous one stays: ${reasons}`)
    }
    if (configMapError !== undefined || problems.length > 0) onError()
    for (const message of messages) {
      if (!this.logged.includes(message)) log({ level: 'warning', message })
    }
    this.logged = messages
    return generated
  }

  /** Writes the Corefile if it differs; returns whether it did. */
  private async write({ text }: Generated): Promise<boolean> {
    const { corefile } = this.options
    if (existsSync(corefile) && readFileSync(corefile, 'utf8') === text) return false
    await writeWholeFile(corefile, text, { mode: 0o644 })
    this.context.log({ level: 'info', message: `generated ${corefile}` })
    return true
  }
}

function fill(
  template: string,
  data: Readonly<Record<string, string>>,
  { addresses, domain, dnsPort, clusterDns }: NodeCorefileOptions,
): { text: string; notices: readonly string[] } {
  const [first = ''] = addresses
  const host = first.includes(':') ? `[${first}]` : first
  const settings = [
    `local-dns=${addresses.join(' ')}`,
    `dns-domain=${domain}`,
    `dns-port=${dnsPort}`,
    // `-localip` has all addresses.
    'dns-server=',
    ...(clusterDns === '' ? [] : [`cluster-dns=${clusterDns}`]),
  ]
  // `health` takes one address.
  const text = template.replace(/__PILLAR__LOCAL__DNS__(?=:\d)/g, host)
  const documents = [{ kind: 'ConfigMap', metadata: { name: 'kube-dns' }, data }]
  const { corefile, notices } = convertNodeLocal(
    { texts: [text], documents },
    new Settings(settings),
  )
  return { text: corefile, notices }
}
