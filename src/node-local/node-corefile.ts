/**
 * The Corefile of a node's cache, from a template with `__PILLAR__` placeholders and the ConfigMap
 * of kube-dns, as NodeLocal DNSCache generates it.
 * @module
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { errorText } from '../bytes/unknown.ts'
import { Settings } from '../convert/conversion.ts'
import { convertNodeLocal } from '../convert/nodelocal.ts'
import { CommandError } from '../node/output.ts'
import { readTextFile } from '../node/read-files.ts'
import type { Log } from '../telemetry/log.ts'

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

/** A Corefile, and what could not be converted. */
export type Generated = {
  readonly text: string
  readonly notices: readonly string[]
  /** Why the ConfigMap was left out. */
  readonly configMapError: string | undefined
}

/**
 * Generates the Corefile; `undefined` if there is no template. Leaves an invalid ConfigMap out, as
 * NodeLocal DNSCache does.
 * @throws {ConversionError} for a template that cannot be filled
 */
export function generateCorefile(options: NodeCorefileOptions): Generated | undefined {
  const template = readTextFile(options.template)
  if (template === undefined) return undefined
  const data = Object.fromEntries(
    KEYS.flatMap((key) => {
      const text = readTextFile(join(options.configMap, key))
      return text === undefined ? [] : [[key, text]]
    }),
  )
  const documents = [{ kind: 'ConfigMap', metadata: { name: 'kube-dns' }, data }]
  try {
    return { ...fill(template, documents, options), configMapError: undefined }
  } catch (error) {
    const generated = fill(template, [], options)
    return { ...generated, configMapError: errorText(error) }
  }
}

/** The generated Corefile, written again when its parts change. */
export class NodeCorefile {
  private readonly options: NodeCorefileOptions
  private readonly log: Log
  private readonly onError: () => void
  private logged: readonly string[] = []

  constructor(options: NodeCorefileOptions, log: Log, onError: () => void) {
    this.options = options
    this.log = log
    this.onError = onError
  }

  /** @throws {CommandError} if there is neither a template nor a Corefile */
  start(): void {
    const { template, corefile } = this.options
    const generated = this.generate()
    if (generated === undefined && readTextFile(corefile) === undefined) {
      throw new CommandError(`Cannot read ${template} or ${corefile}: no such file`)
    }
    if (generated !== undefined) this.write(generated)
  }

  /**
   * Returns whether the Corefile has changed. Logs and counts a failure, and keeps the Corefile
   * while the ConfigMap is invalid.
   */
  update(): boolean {
    try {
      const generated = this.generate()
      return generated !== undefined && generated.configMapError === undefined
        ? this.write(generated)
        : false
    } catch (error) {
      this.onError()
      this.log({ level: 'error', message: `cannot generate a Corefile: ${errorText(error)}` })
      return false
    }
  }

  /** Logs what could not be converted once, until it changes. */
  private generate(): Generated | undefined {
    const generated = generateCorefile(this.options)
    if (generated === undefined) return undefined
    const { notices, configMapError } = generated
    const messages = [...notices]
    if (configMapError !== undefined) {
      this.onError()
      messages.push(`ignored ${this.options.configMap}: ${configMapError}`)
    }
    for (const message of messages) {
      if (!this.logged.includes(message)) this.log({ level: 'warning', message })
    }
    this.logged = messages
    return generated
  }

  private write({ text }: Generated): boolean {
    const { corefile } = this.options
    const isNew = writeCorefile(corefile, text)
    if (isNew) this.log({ level: 'info', message: `generated ${corefile}` })
    return isNew
  }
}

/** Writes a file if it differs; returns whether it did. @throws {Error} of the file system */
function writeCorefile(path: string, text: string): boolean {
  if (existsSync(path) && readFileSync(path, 'utf8') === text) return false
  // A reload must not read half of it.
  writeFileSync(`${path}.new`, text)
  renameSync(`${path}.new`, path)
  return true
}

function fill(
  template: string,
  documents: readonly unknown[],
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
  const { corefile, notices } = convertNodeLocal(
    { texts: [text], documents },
    new Settings(settings),
  )
  return { text: corefile, notices }
}
